// SPDX-License-Identifier: Apache-2.0
// How much memory the machine has is told alike by everyone who tells it.
#include "check.h"

#include <errno.h>
#include <sys/sysinfo.h>

int main(void) {
    struct sysinfo info;
    errno = EXDEV;
    CHECK(sysinfo(&info) == 0);
    unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
    unsigned long all = info.totalram * info.mem_unit / page;
    CHECK((unsigned long)get_phys_pages() == all);
    CHECK((unsigned long)sysconf(_SC_PHYS_PAGES) == all);
    CHECK(get_avphys_pages() > 0 && (unsigned long)get_avphys_pages() <= all);
    CHECK(sysconf(_SC_AVPHYS_PAGES) > 0 && (unsigned long)sysconf(_SC_AVPHYS_PAGES) <= all);
    CHECK(sysconf(_SC_NPROCESSORS_ONLN) > 0 && sysconf(_SC_OPEN_MAX) > 0);
    CHECK(errno == EXDEV);
    CHECK(sysconf(-1) == -1 && errno == EINVAL);
    return 0;
}
