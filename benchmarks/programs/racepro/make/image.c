int image(void);
int image(void) {
    return 0;
}
