int image(void);
int main(void) {
    return image();
}
