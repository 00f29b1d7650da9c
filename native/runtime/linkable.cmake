# SPDX-License-Identifier: Apache-2.0
# Makes of the archive what `eitherway cc` links: one object, and the list of what it takes over.
#
# One object and not an archive: nothing of it can be left out, and --exclude-libs does not reach it.
# Names of our own are local, so that no program can clash with them. What we take over is weak, as
# libc's functions are to a program that brings its own `poll`.
#
# cmake -DLINKER= -DOBJCOPY= -DNM= -DARCHIVE= -DOBJECT= -DLIST= -P linkable.cmake

cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status ERROR_VARIABLE words)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${status}\n${words}")
  endif()
endfunction()

# What is to be X for the program is ew_takes_X in here, and our own calls of X are those of ew_own_X.
execute_process(COMMAND ${NM} --defined-only --extern-only --format=posix ${ARCHIVE}
  OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
string(REGEX MATCHALL "\new_takes_[^ ]+" taken "${symbols}")
if(NOT status EQUAL 0 OR NOT taken)
  message(FATAL_ERROR "${ARCHIVE}: cannot tell what it takes over")
endif()
list(TRANSFORM taken REPLACE "\new_takes_" "")
list(TRANSFORM taken REPLACE "(.+)" "\\1 ew_own_\\1" OUTPUT_VARIABLE own)
list(TRANSFORM taken REPLACE "(.+)" "ew_takes_\\1 \\1")
list(JOIN own "\n" lines)
file(WRITE ${OBJECT}.own "${lines}\n")
list(JOIN taken "\n" lines)
file(WRITE ${OBJECT}.taken "${lines}\n")

# Groups become ordinary sections: the linker keeps one group of a name, and a program's own reference
# to it must not end at a symbol that is local here.
#
# What our clean-up code calls of the unwinder goes through unwinding.S: a C program does not have it.
run(${OBJCOPY} --redefine-sym _Unwind_Resume=ew_unwind_resume
  --redefine-sym __gcc_personality_v0=ew_personality --redefine-syms=${OBJECT}.own
  ${ARCHIVE} ${OBJECT}.a)
run(${LINKER} -r -T ${CMAKE_CURRENT_LIST_DIR}/own_memory.ld --force-group-allocation --whole-archive ${OBJECT}.a -o ${OBJECT})
execute_process(COMMAND ${NM} --undefined-only --format=posix ${OBJECT} OUTPUT_VARIABLE symbols)
string(REGEX MATCHALL "ew_own_[^ ]+" missing "${symbols}")
if(missing)
  message(FATAL_ERROR "own.c lacks what the runtime calls itself: ${missing}")
endif()
run(${OBJCOPY} --localize-hidden --redefine-syms=${OBJECT}.taken ${OBJECT})
execute_process(COMMAND ${NM} --defined-only --extern-only --format=posix ${OBJECT}
  OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
string(REGEX MATCHALL "(^|\n)[^ ]+" names "${symbols}")
list(TRANSFORM names STRIP)
list(SORT names)
if(NOT status EQUAL 0 OR NOT "pthread_create" IN_LIST names)
  message(FATAL_ERROR "${OBJECT}: cannot tell what it takes over")
endif()

list(JOIN names "\n" lines)
file(WRITE ${OBJECT}.names "${lines}\n")
run(${OBJCOPY} --weaken-symbols=${OBJECT}.names ${OBJECT})
list(JOIN names ";\n" lines)
file(WRITE ${LIST} "{\n${lines};\n};\n")
