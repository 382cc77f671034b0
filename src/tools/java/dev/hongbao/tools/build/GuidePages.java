package dev.hongbao.tools.build;

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
import java.util.stream.Stream;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * Renders the guide: every Markdown page as one HTML page that needs no script. The pages are written for a code host too, so
 * a link to {@code architecture.md} becomes one to {@code /docs/guide/architecture.html}, and a link to a source file, which no server
 * has, becomes plain text.
 */
public final class GuidePages {
    /** The pages, in the order of the navigation. */
    public static final List<String> PAGES = List.of(
            "index",
            "architecture",
            "glossary",
            "guarantees",
            "chaos",
            "proving",
            "fairness",
            "money",
            "decisions",
            "options",
            "tokens",
            "operating",
            "events",
            "backup",
            "runbook",
            "auditing",
            "benchmarks",
            "scaling",
            "contributing",
            "changes");

    /** What the server has of the files that the guide links to, by the name that the guide uses. */
    private static final Map<String, String> SERVED = Map.of(
            "../../main/resources/openapi.yaml", "../../openapi.yaml",
            "../../main/resources/asyncapi.yaml", "../../asyncapi.yaml",
            "../../main/resources/webroot/hongbao-client.js", "../../hongbao-client.js",
            "../../main/resources/webroot/hongbao-verify.js", "../../hongbao-verify.js",
            "../../main/resources/webroot/fairness/packets.json", "../../fairness/packets.json",
            "../../main/resources/webroot/fairness/draws.json", "../../fairness/draws.json",
            "../../main/resources/webroot/fairness/rains.json", "../../fairness/rains.json");

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
        </head>
        <body>
        <nav aria-label="Guide">%s</nav>
        <main>
        %s</main>
        </body>
        </html>
        """;

    private GuidePages() {}

    /** @param args the directory of the Markdown pages and pictures, and the directory to write into, which is made */
    public static void main(String[] args) throws IOException {
        Path from = Path.of(args[0]);
        Path to = Files.createDirectories(Path.of(args[1]));
        for (String page : PAGES) {
            Files.writeString(to.resolve(page + ".html"), render(page, Files.readString(from.resolve(page + ".md"))));
        }
        try (Stream<Path> files = Files.list(from)) {
            for (Path picture :
                    files.filter(file -> file.toString().endsWith(".svg")).toList()) {
                Files.copy(picture, to.resolve(picture.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /**
     * One page as HTML.
     *
     * @param page its name, one of {@link #PAGES}
     */
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
                        attributes.put("tabindex", "0"); // a wide one scrolls, with the keyboard, too
                    }
                    if (node instanceof TableCell cell && !cell.isHeader()) {
                        attributes.put("data-label", label(cell));
                    }
                })
                .build();
        return PAGE.formatted(title(page, document), navigation(page), renderer.render(document));
    }

    static Node parse(String markdown) {
        return Parser.builder().extensions(EXTENSIONS).build().parse(markdown);
    }

    /** The headings' anchors, made as code hosts make them: small letters, dashes for spaces, no other signs. */
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

    /** The letters of a node. */
    static String text(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text piece) {
                text.append(piece.getLiteral());
            }

            @Override
            public void visit(Code code) {
                text.append(code.getLiteral());
            }
        });
        return text.toString();
    }

    /** Where a link leads on the server; empty for nowhere. */
    private static String target(String destination) {
        String served = SERVED.get(destination);
        if (served != null) {
            return served;
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

    /** The head of a cell's column, which a phone shows beside the cell. */
    private static String label(Node cell) {
        Node table = cell.getParent().getParent().getParent();
        Node head = table.getFirstChild().getFirstChild().getFirstChild();
        for (Node before = cell.getPrevious(); before != null && head != null; before = before.getPrevious()) {
            head = head.getNext();
        }
        return head == null ? "" : text(head);
    }

    /** Leaves what the link showed. */
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
        List<String> links = new ArrayList<>();
        for (String page : PAGES) {
            String name = page.equals("index") ? "guide" : page;
            String mark = page.equals(current) ? " aria-current=\"page\"" : "";
            links.add("<a href=\"%s\"%s>%s</a>".formatted(address(page), mark, name));
        }
        links.add("<a href=\"../../docs\">calls</a>");
        return String.join(" ", links);
    }
}
