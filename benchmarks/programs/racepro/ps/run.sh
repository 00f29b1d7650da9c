# Which window manager runs? licq asked this way, and started the wrong version of itself.
if ps ax | grep kwin > found; then echo kde; else echo gnome; fi
