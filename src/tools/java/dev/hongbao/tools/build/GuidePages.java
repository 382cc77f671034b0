package dev.hongbao.tools.build;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * Renders the guide: every Markdown page as one HTML page, and one index of all sections for the search box. Only the search box
 * needs a script. The pages are written for a code host too, so a link to {@code architecture.md} becomes one to
 * {@code /docs/guide/architecture.html}, and a link to a source file, which no server has, becomes plain text.
 */
public final class GuidePages {
    /** A group of pages in the navigation, for one kind of reader. */
    record Door(String name, List<String> pages) {}

    static final List<Door> DOORS = List.of(
            new Door("Start", List.of("index", "start")),
            new Door("Integrate", List.of("http", "tokens", "events", "money", "auditing", "fairness", "errors")),
            new Door("Operate", List.of("operating", "options", "servers", "observing", "backup", "runbook")),
            new Door(
                    "Understand",
                    List.of("architecture", "glossary", "guarantees", "decisions", "scaling", "benchmarks")),
            new Door("Contribute", List.of("contributing", "chaos", "proving", "changes")));

    /** The pages, in the order of the navigation. */
    public static final List<String> PAGES =
            DOORS.stream().flatMap(door -> door.pages().stream()).toList();

    /** Languages of code blocks that the search covers: a reader searches for a command, not for a line of an example. */
    private static final Set<String> SEARCHED_CODE = Set.of("sh", "sql", "conf");

    /** The linked files that the server has. */
    private static final Pattern SERVED = Pattern.compile(
            "\\.\\./\\.\\./main/resources/(?:webroot/)?(\\w+api\\.yaml|hongbao-\\w+\\.js|fairness/\\w+\\.json)");

    private static final List<Extension> EXTENSIONS = List.of(TablesExtension.create());

    private static final String PAGE = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>%s · Hongbao</title>
        <link rel="icon" href="../../icon.svg">
        <link rel="stylesheet" href="../../style/guide.css">
        <script type="module" src="../search.js"></script>
        </head>
        <body>
        <div role="search" hidden>
        <label for="query">Search the guide</label>
        <input id="query" type="search" autocomplete="off" spellcheck="false">
        <p role="status"></p>
        <ol></ol>
        </div>
        <nav aria-label="Guide">
        %s</nav>
        <main>
        %s</main>
        </body>
        </html>
        """;

    private GuidePages() {}

    /** @param args the directory of the Markdown pages and pictures, and the directory for the result */
    public static void main(String[] args) throws IOException {
        Path from = Path.of(args[0]);
        Path to = Files.createDirectories(Path.of(args[1]));
        JsonArray index = new JsonArray();
        for (String page : PAGES) {
            String markdown = Files.readString(from.resolve(page + ".md"));
            Files.writeString(to.resolve(page + ".html"), render(page, markdown));
            sections(page, markdown).forEach(section -> index.add(section.json()));
        }
        Files.writeString(to.resolve("search.json"), index.encode());
        try (Stream<Path> files = Files.list(from)) {
            for (Path picture :
                    files.filter(file -> file.toString().endsWith(".svg")).toList()) {
                Files.copy(picture, to.resolve(picture.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /** @param page one of {@link #PAGES} */
    static String render(String page, String markdown) {
        Node document = parse(markdown);
        Map<Node, String> anchors = anchors(document);
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                visitChildren(link);
                String target = target(link.getDestination());
                if (target.isEmpty()) {
                    unwrap(link);
                } else {
                    link.setDestination(target);
                }
            }
        });
        HtmlRenderer renderer = HtmlRenderer.builder()
                .extensions(EXTENSIONS)
                .attributeProviderFactory(context -> (node, tag, attributes) -> {
                    String anchor = anchors.get(node);
                    if (anchor != null) {
                        attributes.put("id", anchor);
                    }
                    if (tag.equals("pre") || tag.equals("table")) {
                        attributes.put("tabindex", "0"); // the keyboard scrolls a wide one
                    }
                    if (node instanceof TableCell cell && !cell.isHeader()) {
                        attributes.put("data-label", label(cell));
                    }
                })
                .build();
        return PAGE.formatted(title(page, document), navigation(page), renderer.render(document));
    }

    /**
     * A section in the index of the search.
     *
     * @param href relative to the guide
     * @param page its title
     * @param text without markup
     */
    record Section(String href, String page, String heading, String text) {
        private JsonObject json() {
            return new JsonObject()
                    .put("href", href)
                    .put("page", page)
                    .put("heading", heading)
                    .put("text", text);
        }
    }

    /** A page's sections in order, one for each heading. */
    static List<Section> sections(String page, String markdown) {
        Node document = parse(markdown);
        Map<Node, String> anchors = anchors(document);
        String title = title(page, document);
        List<Section> sections = new ArrayList<>();
        Node first = document.getFirstChild();
        while (first != null) {
            StringBuilder text = new StringBuilder();
            Node next = first.getNext();
            for (; next != null && !(next instanceof Heading); next = next.getNext()) {
                text.append(text(next)).append(' ');
            }
            String anchor = sections.isEmpty() ? "" : "#" + anchors.get(first);
            String plain = text.toString().replaceAll("\\s+", " ").strip();
            sections.add(new Section(address(page) + anchor, title, text(first), plain));
            first = next;
        }
        return sections;
    }

    /** The words of a node and of those in it, without markup and without most code blocks. */
    static String text(Node node) {
        StringBuilder words = new StringBuilder();
        addText(node, words);
        return words.toString().strip();
    }

    private static void addText(Node node, StringBuilder words) {
        if (node instanceof Text piece) {
            words.append(piece.getLiteral());
        } else if (node instanceof Code code) {
            words.append(code.getLiteral());
        } else if (node instanceof FencedCodeBlock code && SEARCHED_CODE.contains(code.getInfo())) {
            words.append(code.getLiteral());
        }
        for (Node child = node.getFirstChild(); child != null; child = child.getNext()) {
            addText(child, words);
        }
        if (node instanceof SoftLineBreak || node instanceof Paragraph || node instanceof TableCell) {
            words.append(' ');
        }
    }

    static Node parse(String markdown) {
        return Parser.builder().extensions(EXTENSIONS).build().parse(markdown);
    }

    /** The headings' anchors, as code hosts make them: lower case, dashes for spaces, no other signs. */
    static Map<Node, String> anchors(Node document) {
        Map<Node, String> anchors = new IdentityHashMap<>();
        Set<String> taken = new HashSet<>();
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                String plain = text(heading)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-');
                String anchor = plain;
                for (int n = 1; !taken.add(anchor); n++) {
                    anchor = plain + "-" + n;
                }
                anchors.put(heading, anchor);
            }
        });
        return anchors;
    }

    /** The target of a link on the server; empty if the server has none. */
    private static String target(String destination) {
        Matcher served = SERVED.matcher(destination);
        if (served.matches()) {
            return "../../" + served.group(1);
        }
        if (destination.startsWith("#") || destination.startsWith("https://")) {
            return destination;
        }
        int hash = destination.indexOf('#');
        String file = hash < 0 ? destination : destination.substring(0, hash);
        String fragment = hash < 0 ? "" : destination.substring(hash);
        return file.endsWith(".md") && PAGES.contains(file.substring(0, file.length() - 3))
                ? address(file.substring(0, file.length() - 3)) + fragment
                : "";
    }

    private static String address(String page) {
        return page.equals("index") ? "./" : page + ".html";
    }

    /** The head of a cell's column: a phone shows it beside the cell. */
    private static String label(Node cell) {
        Node table = cell.getParent().getParent().getParent();
        Node head = table.getFirstChild().getFirstChild().getFirstChild();
        for (Node before = cell.getPrevious(); before != null && head != null; before = before.getPrevious()) {
            head = head.getNext();
        }
        return head == null ? "" : text(head);
    }

    /** Replaces a link by its text. */
    private static void unwrap(Link link) {
        for (Node child = link.getFirstChild(); child != null; child = link.getFirstChild()) {
            link.insertBefore(child);
        }
        link.unlink();
    }

    private static String title(String page, Node document) {
        return document.getFirstChild() instanceof Heading heading ? text(heading) : page;
    }

    private static String navigation(String current) {
        StringBuilder navigation = new StringBuilder();
        for (Door door : DOORS) {
            List<String> links = new ArrayList<>();
            for (String page : door.pages()) {
                String name = page.equals("index") ? "guide" : page;
                String mark = page.equals(current) ? " aria-current=\"page\"" : "";
                links.add("<a href=\"%s\"%s>%s</a>".formatted(address(page), mark, name));
            }
            if (door.pages().contains("http")) {
                links.add("<a href=\"../../docs\">API</a>");
            }
            navigation.append("<p><b>%s</b> %s</p>\n".formatted(door.name(), String.join(" ", links)));
        }
        return navigation.toString();
    }
}
