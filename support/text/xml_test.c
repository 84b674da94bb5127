/* SPDX-License-Identifier: BSD-3-Clause */
/* XML input and output: all written text is read back; contents are reported in order, with line numbers. */
#include "support/support.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

static struct buf seen;
static int most = -1; /* events until the handler stops; -1: it does not */

static int note_begin(void *ctx, const struct xml_event *e, struct err *err)
{
    (void)ctx;
    if (most == 0)
        return err_set(err, ERR_FORMAT, "enough at <%s>", e->element);
    most -= most > 0;
    buf_printf(&seen, "<%s@%llu", e->element, (unsigned long long)e->line);
    for (size_t i = 0; i < e->attr_count; i++)
        buf_printf(&seen, " %s=[%s]", e->attrs[i].name, e->attrs[i].value);
    buf_str(&seen, ">");
    return 0;
}

static int note_end(void *ctx, const struct xml_event *e, struct err *err)
{
    (void)ctx, (void)err;
    buf_printf(&seen, "%s</%s@%llu>", e->text, e->element, (unsigned long long)e->line);
    return most == 0 ? -1 : 0;
}

static const struct xml_handler handler = {note_begin, note_end, NULL};

static int read_text(const char *text, struct err *e)
{
    seen.len = 0;
    buf_str(&seen, "");
    *e = (struct err){0};
    return xml_read(text, strlen(text), "t.xml", &handler, e);
}

static void test_events(void)
{
    struct err e;
    CHECK_INT(read_text("<a x='1' y='&lt;&#10;&#x41;'>\n<b/>\n<c> t&amp;u </c>\n</a>", &e), 0);
    CHECK_STR(seen.bytes, "<a@1 x=[1] y=[<\nA]><b@2></b@2><c@3> t&u </c@3></a@4>");
    CHECK_INT(read_text("<a>text<b>in</b>more</a>", &e), 0);
    CHECK_STR(seen.bytes, "<a@1><b@1>in</b@1></a@1>"); /* text of an element with children is ignored */
    CHECK_INT(read_text("<!DOCTYPE a [<!ENTITY e 'no'>]><a>&e;</a>", &e), -1);
    CHECK_NAMED(strstr(seen.bytes, "no") == NULL, "entities of a file's own are not read");
}

/* Attribute values are kept regardless of the lengths of preceding ones. */
static void test_attributes(void)
{
    struct err e;
    for (size_t n = 1; n < 40000; n = 3 * n + 1) {
        struct buf text = {0}, want = {0};
        buf_str(&text, "<r>");
        buf_str(&want, "<r@1>");
        for (size_t k = n; k < n + 3; k++) {
            buf_str(&text, "<e");
            buf_str(&want, "<e@1");
            for (int a = 0; a < 5; a++) {
                char *value = mem_alloc(k + 1);
                memset(value, 'a' + a, k);
                value[k] = '\0';
                buf_printf(&text, " n%d='%s'", a, value);
                buf_printf(&want, " n%d=[%s]", a, value);
                mem_free(value);
            }
            buf_str(&text, "/>");
            buf_str(&want, "></e@1>");
        }
        buf_str(&text, "</r>");
        buf_str(&want, "</r@1>");
        if (!CHECK_INT(read_text(text.bytes, &e), 0) || !CHECK(strcmp(seen.bytes, want.bytes) == 0))
            printf("# values of %zu bytes\n", n);
        buf_release(&text);
        buf_release(&want);
    }
}

/* Values of every length, including exactly the buffer's: they do not move. */
static void test_room_of_attributes(void)
{
    struct err e;
    struct buf text = {0}, want = {0};
    char value[1700]; /* in all more than the parser gets at once */
    memset(value, 'v', sizeof value);
    buf_str(&text, "<r>");
    buf_str(&want, "<r@1>");
    for (int n = 0; n < (int)sizeof value; n++) {
        buf_printf(&text, "<e a='%.*s' b='%d' c=''/>", n, value, n);
        buf_printf(&want, "<e@1 a=[%.*s] b=[%d] c=[]></e@1>", n, value, n);
    }
    buf_str(&text, "</r>");
    buf_str(&want, "</r@1>");
    CHECK_INT(read_text(text.bytes, &e), 0);
    CHECK_NAMED(strcmp(seen.bytes, want.bytes) == 0, "values of every length");
    buf_release(&text);
    buf_release(&want);
}

/* Random text and the expected result; the first kinds are also valid in attributes. */
static void draw_pieces(struct buf *text, struct buf *want, size_t kinds, unsigned *line)
{
    static const char *const pieces[][2] = {{"x", "x"},
                                            {" ", " "},
                                            {"&amp;", "&"},
                                            {"&#65;", "A"},
                                            {"\xc3\xa9", "\xc3\xa9"},
                                            {"<!-- <c> -->", ""},
                                            {"<?p i?>", ""},
                                            {"<![CDATA[<b>&amp;]]>", "<b>&amp;"},
                                            {"\n", "\n"}};
    for (unsigned n = below(4); n > 0; n--) {
        size_t which = below((uint32_t)(kinds ? kinds : ARRAY_SIZE(pieces)));
        buf_str(text, pieces[which][0]);
        if (want)
            buf_str(want, pieces[which][1]);
        *line += pieces[which][0][0] == '\n';
    }
}

/* An element with its contents, and the expected events: text only for elements without children. */
static void draw_element(struct buf *text, struct buf *want, unsigned depth, unsigned *line)
{
    char name = (char)('a' + below(4));
    unsigned inside = depth < 6 ? below(4) : 0;
    buf_printf(text, "<%c", name);
    buf_printf(want, "<%c@%u", name, *line);
    for (unsigned i = 0, n = below(4); i < n; i++) {
        buf_printf(text, " n%u='", i);
        buf_printf(want, " n%u=[", i);
        draw_pieces(text, want, 5, line);
        buf_char(text, '\'');
        buf_char(want, ']');
    }
    buf_char(want, '>');
    if (!inside && below(2)) {
        buf_str(text, "/>");
        buf_printf(want, "</%c@%u>", name, *line);
        return;
    }
    buf_char(text, '>');
    for (unsigned i = 0; i < inside; i++) {
        draw_pieces(text, NULL, 0, line);
        draw_element(text, want, depth + 1, line);
    }
    draw_pieces(text, inside ? NULL : want, 0, line);
    buf_printf(text, "</%c>", name);
    buf_printf(want, "</%c@%u>", name, *line);
}

/* Events for random documents; each document truncated anywhere is rejected. */
static void test_drawn(void)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < 400 && !wrong; i++) {
        struct buf text = {0}, want = {0};
        struct err e = {.kind = ERR_LIMIT, .msg = "of something else"};
        unsigned line = 1 + below(2);
        buf_str(&text, line == 2 ? "<?xml version='1.0'?>\n" : "");
        draw_element(&text, &want, 0, &line);
        seen.len = 0;
        if (xml_read(text.bytes, text.len, "t.xml", &handler, &e) != 0 || e.kind != ERR_NONE || e.msg[0] ||
            strcmp(seen.bytes, want.bytes) != 0)
            wrong += !!printf("# %s\n# got    %s\n# wanted %s\n# %s\n", text.bytes, seen.bytes, want.bytes, e.msg);
        for (size_t n = 0; n < text.len && n < 400 && i < 30; n++)
            if (xml_read(text.bytes, n, "t.xml", &handler, &e) != -1 || e.kind != ERR_FORMAT ||
                !str_starts(e.msg, "t.xml:"))
                wrong += !!printf("# %zu of %s: %s\n", n, text.bytes, e.msg);
        buf_release(&text);
        buf_release(&want);
    }
    CHECK_NAMED(wrong == 0, "documents, drawn by chance");
}

static int read_nested(size_t depth, struct err *e)
{
    struct buf text = {0};
    for (size_t i = 0; i < depth; i++)
        buf_str(&text, "<a>");
    for (size_t i = 0; i < depth; i++)
        buf_str(&text, "</a>");
    int status = read_text(text.bytes, e);
    buf_release(&text);
    return status;
}

static void test_refused(void)
{
    struct err e;
    CHECK_INT(read_text("<a>\n<b>\n</a>", &e), -1);
    CHECK_INT(strncmp(e.msg, "t.xml:3: ", 9), 0);
    CHECK_INT(e.kind, ERR_FORMAT);
    CHECK_INT(read_text("<a>", &e), -1);
    CHECK_INT(read_text("", &e), -1);
    CHECK_STR(e.msg, "t.xml: not well-formed XML: the file is empty");
    CHECK_INT(read_text("<a/><b/>", &e), -1);
    CHECK_INT(read_nested(LIMIT_XML_DEPTH, &e), 0);
    CHECK_INT(read_nested(LIMIT_XML_DEPTH + 1, &e), -1);
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK(strstr(e.msg, "t.xml:1: elements are nested more than 4096 deep") != NULL);
    CHECK_INT(xml_read("<a>\n<b>", 7, "t.xml", &handler, NULL), -1);
    most = 2;
    CHECK_INT(read_text("<a><b><c/></b></a>", &e), -1);
    CHECK_STR(e.msg, "enough at <c>");
    CHECK_STR(seen.bytes, "<a@1><b@1>");
    most = 1;
    CHECK_INT(read_text("<a><b/></a>", &e), -1);
    most = 2;
    CHECK_INT(read_text("<a><b/><c/></a>", &e), -1);
    CHECK_STR(seen.bytes, "<a@1><b@1></b@1>");
    most = 2;
    CHECK_INT(read_text("<a><b/></a>", &e), -1);
    CHECK_STR(seen.bytes, "<a@1><b@1></b@1>");
    CHECK_NAMED(e.kind == ERR_NONE && !e.msg[0], "who stops without a word is given none");
    most = -1;
}

/* Recoverable complaints of the parser are not our errors, and do not hide later ones. */
static void test_read_over(void)
{
    static const char *const texts[] = {"<p:a/>", "<a xmlns:p=''/>", "<a:b:c/>", "<a xmlns='::'/>"};
    struct err e;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        CHECK_INT(read_text(texts[i], &e), 0);
        CHECK_INT(e.kind, ERR_NONE);
        CHECK_STR(e.msg, "");
    }
    CHECK_INT(read_text("<p:a><b x='1'", &e), -1);
    CHECK_INT(e.kind, ERR_FORMAT);
    CHECK(str_starts(e.msg, "t.xml:1: not well-formed XML") && !strstr(e.msg, "prefix"));
}

static void test_known(void)
{
    static const char *const known[] = {"name", "size", NULL};
    static struct guarded_room room;
    struct xml_attr *attrs =
        guarded_copy(&room, (struct xml_attr[]){{"size", "1"}, {"name", "x"}, {"nane", "y"}}, 3 * sizeof *attrs);
    struct xml_event event = {.element = "cache", .attrs = attrs, .attr_count = 2, .line = 7};
    struct err e = {0};
    CHECK_INT(xml_attrs_known(&event, "m.xml", known, &e), 0);
    event.attr_count = 3;
    CHECK_INT(xml_attrs_known(&event, "m.xml", known, &e), -1);
    CHECK_STR(e.msg, "m.xml:7: <cache> has no attribute 'nane'; did you mean 'name'?");
    struct xml_event first = {.element = "cache", .attrs = attrs + 2, .attr_count = 1, .line = 7};
    CHECK_NAMED(xml_attrs_known(&first, "m.xml", known, &e) == -1, "the first is looked at");
    attrs[2].name = "colour";
    CHECK_INT(xml_attrs_known(&event, "m.xml", known, &e), -1);
    CHECK_STR(e.msg, "m.xml:7: <cache> has no attribute 'colour'");
    CHECK_STR(xml_attr_get(&event, "size"), "1");
    CHECK_STR(xml_attr_get(&event, "name"), "x");
    CHECK(xml_attr_get(&event, "nam") == NULL);
    CHECK_INT(xml_attr_wrong(&event, "m.xml", "size", "1", "2 would be right", &e), -1);
    CHECK_STR(e.msg, "m.xml:7: <cache size=\"1\">: 2 would be right");
}

/* Every string of up to three bytes of a small alphabet is unchanged after a round trip, except that U+FFFD replaces
   characters invalid in XML. */
static void test_back(void)
{
    static const char *const pieces[] = {"a",
                                         "<",
                                         ">",
                                         "&",
                                         "\"",
                                         "'",
                                         "\n",
                                         "\t",
                                         " ",
                                         "\x01",
                                         "\xc3\xa9",
                                         "\xef\xbf\xbe",
                                         "\xef\xbf\xbf",
                                         "\xef\xbf\xbd",
                                         "\xff",
                                         "\xe2\x82",
                                         "\xe2\x82\xac",
                                         "\xf0\x9f\x98\x80"};
    const char *const replaced = "\xef\xbf\xbd";
    struct err e;
    size_t wrong = 0, n = ARRAY_SIZE(pieces);
    for (size_t i = 0; i < n * n; i++) {
        const char *two[] = {pieces[i / n], pieces[i % n]};
        struct buf text = {0}, file = {0}, want = {0};
        buf_str(&want, "<a@3 v=[");
        for (int k = 0; k < 2; k++) {
            buf_str(&text, two[k]);
            bool bad =
                strcmp(two[k], "\x01") == 0 || strcmp(two[k], "\xff") == 0 || strncmp(two[k], "\xef\xbf", 2) == 0;
            if (strcmp(two[k], "\xe2\x82") == 0)
                buf_str(&want, "\xef\xbf\xbd\xef\xbf\xbd"); /* for each byte */
            else
                buf_str(&want, bad ? replaced : two[k]);
        }
        buf_printf(&want, "] n=[18446744073709551615] p=[7-x]></a@3>");
        struct outfile *f = outfile_into(&file);
        struct xmlout *x = xmlout_create(f, "<!DOCTYPE a>");
        xmlout_begin(x, "a");
        xmlout_attr(x, "v", text.bytes);
        xmlout_attr_u64(x, "n", UINT64_MAX);
        xmlout_attr_printf(x, "p", "%d-%s", 7, "x");
        xmlout_finish(x);
        outfile_commit(f, &e);
        int status = read_text(file.bytes, &e);
        if (status != 0 || strcmp(seen.bytes, want.bytes) != 0)
            if (wrong++ < 3)
                printf("# %zu: %s\n# wanted %s\n# %s\n", i, seen.bytes, want.bytes, e.msg);
        buf_release(&text);
        buf_release(&file);
        buf_release(&want);
    }
    CHECK_INT(wrong, 0);
}

static void test_form(void)
{
    struct buf file = {0};
    struct err e = {0};
    struct outfile *f = outfile_into(&file);
    struct xmlout *x = xmlout_create(f, NULL);
    xmlout_begin(x, "a");
    xmlout_begin(x, "b");
    xmlout_attr(x, "c", "d");
    xmlout_end(x);
    xmlout_begin(x, "t");
    xmlout_text(x, "1 < 2");
    xmlout_end(x);
    xmlout_begin(x, "e");
    xmlout_begin(x, "f");
    xmlout_finish(x);
    CHECK_INT(outfile_commit(f, &e), 0);
    CHECK_STR(file.bytes, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a>\n <b c=\"d\"/>\n <t>1 &lt; 2</t>\n <e>\n  "
                          "<f/>\n </e>\n</a>\n");
    buf_release(&file);
}

/* ---- several errors of one input ----------------------------------------------------------- */

static void test_gathered(void)
{
    struct warnings *others = warnings_create();
    struct err e = {.others = others}, alone = {0};
    struct err_gathered g = {0}, h = {0};
    CHECK_INT(err_gathered(&g, &e), 0);
    for (int i = 1; i <= 3; i++) {
        err_set(&e, ERR_FORMAT, "the %d.", i);
        CHECK(err_gather(&g, &e));
        CHECK_INT(e.kind, ERR_NONE);
    }
    CHECK_INT(err_gathered(&g, &e), -1);
    CHECK_STR(e.msg, "the 3.");
    CHECK_INT(e.kind, ERR_FORMAT);
    CHECK_INT(warnings_count(others), 2);
    CHECK_STR(warnings_get(others, 0), "the 1.");
    CHECK_STR(warnings_get(others, 1), "the 2.");
    err_set(&alone, ERR_FORMAT, "one");
    CHECK_NAMED(!err_gather(&h, &alone) && alone.kind == ERR_FORMAT, "nobody wants more than one");
    CHECK(!err_gather(&h, NULL));
    e = (struct err){.others = others};
    h = (struct err_gathered){0};
    err_set(&e, ERR_LIMIT, "too many");
    CHECK_NAMED(!err_gather(&h, &e) && e.kind == ERR_LIMIT, "a limit ends it");
    CHECK_INT(err_gathered(&h, &e), 0);
    warnings_free(others);
}

static void test_json_members(void)
{
    struct buf out = {0};
    struct jsonout j = {.out = &out};
    json_begin_object(&j);
    json_put_string(&j, "s", "x\"<");
    json_put_u64(&j, "u", UINT64_MAX);
    json_put_i64(&j, "i", INT64_MIN);
    json_put_double(&j, "d", 0.1);
    json_put_bool(&j, "b", true);
    json_end_object(&j);
    CHECK_STR(out.bytes,
              "{\"s\":\"x\\\"\\u003c\",\"u\":18446744073709551615,\"i\":-9223372036854775808,\"d\":0.1,\"b\":true}");
    buf_release(&out);
}

int main(void)
{
    RUN(test_events);
    RUN(test_attributes);
    RUN(test_room_of_attributes);
    RUN(test_drawn);
    RUN(test_refused);
    RUN(test_read_over);
    RUN(test_known);
    RUN(test_back);
    RUN(test_form);
    RUN(test_gathered);
    RUN(test_json_members);
    buf_release(&seen);
    return tap_done();
}
