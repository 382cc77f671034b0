package dev.hongbao.testing;

import java.lang.management.ManagementFactory;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * What is reachable in this JVM, by class: what a growing heap has grown by is then told, and not only that it has.
 *
 * @param classes bytes of a class's live objects, by the class's name as the JVM writes it ({@code [B} is {@code byte[]})
 */
public record LiveHeap(Map<String, Long> classes) {
    /** Collects twice, since what the first collection finds may release more, and counts what is left. */
    public static LiveHeap now() throws JMException {
        System.gc();
        String histogram = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {null},
                        new String[] {String[].class.getName()});
        Map<String, Long> classes = new HashMap<>();
        histogram
                .lines()
                .map(line -> line.trim().split("\\s+"))
                .filter(line -> line.length >= 4 && line[0].endsWith(":")) // 1: instances bytes class
                .forEach(line -> classes.merge(line[3], Long.parseLong(line[2]), Long::sum));
        return new LiveHeap(classes);
    }

    /** Bytes by which the classes whose names begin with {@code packages} have grown; below 0 when there is less of them. */
    public long grownSince(LiveHeap before, String packages) {
        return bytes(packages) - before.bytes(packages);
    }

    private long bytes(String packages) {
        return classes.entrySet().stream()
                .filter(each -> each.getKey().startsWith(packages))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /** Of all classes. */
    public long bytes() {
        return bytes("");
    }

    /** The classes that have grown most since {@code before}, with their bytes. */
    public String grownMost(LiveHeap before) {
        Map<String, Long> grown = new HashMap<>();
        classes.forEach((name, bytes) -> grown.put(name, bytes - before.classes.getOrDefault(name, 0L)));
        return grown.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(24)
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", "));
    }
}
