// Bodies as C makes them with printf: cc make.c -lm && ./a.out FOLDER
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *folder;

static void out(const char *name, const void *bytes, size_t length) {
    char path[4096];
    snprintf(path, sizeof path, "%s/c-%s.body", folder, name);
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, length, file);
    fclose(file);
}

#define FORMATTED(name, ...) do { int length = snprintf(text, sizeof text, __VA_ARGS__); out(name, text, length); } while (0)

int main(int count, char **arguments) {
    char text[1024];
    folder = arguments[1];
    const char *nothing = count > 5 ? "" : NULL;
    FORMATTED("null-pointer", "{\"source_id\": \"@ID@\", \"body\": %s}", nothing ? nothing : "(null)");
    FORMATTED("infinity", "{\"source_id\": \"@ID@\", \"price\": [{\"type\": \"list\", \"amount\": %f}]}", INFINITY);
    FORMATTED("nan", "{\"source_id\": \"@ID@\", \"price\": [{\"type\": \"list\", \"amount\": %f}]}", -NAN);
    FORMATTED("hexadecimal", "{\"source_id\": \"@ID@\", \"category_id\": %#x}", 1020);
    FORMATTED("plus-sign", "{\"source_id\": \"@ID@\", \"category_id\": %+d}", 1020);
    FORMATTED("zero-padded", "{\"source_id\": \"@ID@\", \"category_id\": %08d}", 1020);
    FORMATTED("padded-text", "{\"source_id\": \"@ID@\", \"category_id\": 1020, \"category_fields\": {\"model_year\": 2019, \"registration_number\": \"@PLATE@\"}, "
        "\"price\": [{\"type\": \"list\", \"amount\": 1, \"currency\": \"%-5s\"}]}", "SEK");
    FORMATTED("padded-id", "{\"source_id\": \"%-10s\", \"category_id\": 1020, \"category_fields\": {\"model_year\": 2019, \"registration_number\": \"@PLATE@\"}}", "@ID@");
    FORMATTED("latin1", "{\"source_id\": \"@ID@\", \"body\": \"V\xe4lsk\xf6tt\"}");
    int length = snprintf(text, sizeof text, "{\"source_id\": \"@ID@\"}");
    out("with-nul", text, length + 1);
    char small[40];
    snprintf(small, sizeof small, "{\"source_id\": \"@ID@\", \"category_id\": 1020, \"body\": \"Bra bil\"}");
    out("cut", small, strlen(small));
    return 0;
}
