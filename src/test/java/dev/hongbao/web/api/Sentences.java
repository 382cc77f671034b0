package dev.hongbao.web.api;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** The sentences of the program's refusals, read out of its source by the compiler's own parser, as xgettext does. */
final class Sentences {
    /** Who is given a sentence, and as which argument; the last dot's left side counts for the names that many have. */
    private static final Map<String, Integer> SAID_BY = Map.ofEntries(
            Map.entry("new RefusedException", 1),
            Map.entry("new FieldFault", 1),
            Map.entry("new Fault", 1),
            Map.entry("new TooManyCallsException", 0),
            Map.entry("InvalidInputException.of", 1),
            Map.entry("InvalidInputException.malformedJson", 1),
            Map.entry("UnavailableException.unknown", 0),
            Map.entry("UnavailableException.overloaded", 0),
            Map.entry("new UnavailableException", 0),
            Map.entry("Problem.of", 1),
            Map.entry("of", 1),
            Map.entry("Problem.tooMany", 0),
            Map.entry("fault", 1),
            Map.entry("root.fault", 1),
            Map.entry("award.fault", 1),
            Map.entry("cost.fault", 1),
            Map.entry("limits.fault", 1),
            Map.entry("boost.fault", 1),
            Map.entry("refused", 0),
            Map.entry("malformed", 0));

    /** Whose answers are sentences. */
    private static final Set<String> SAYING =
            Set.of("SplitTerms.infeasible", "PoolShape.infeasible", "SchemaReport.sentence", "StrictJson.reason");

    /** Rules that are kept or told. */
    private static final Set<String> RULES = Set.of("SendRules", "DefinitionRules");

    /** Not for readers of answers: what {@code verify} and a start say on a terminal. */
    private static final Set<String> ELSEWHERE =
            Set.of("DataRules", "DrawReplay", "ScheduleReplay", "Evidence", "PacketDocuments", "Fields");

    private final Set<String> found = new TreeSet<>();

    private Sentences() {}

    /** All of a source folder; {@code {}} stands for what a sentence names. */
    static Set<String> in(Path sources) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<Path> files;
        try (Stream<Path> all = Files.walk(sources)) {
            files = all.filter(file -> file.toString().endsWith(".java")).toList();
        }
        Sentences sentences = new Sentences();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            for (CompilationUnitTree unit : task.parse()) {
                String name =
                        Path.of(unit.getSourceFile().toUri()).getFileName().toString();
                sentences.read(unit, name.substring(0, name.length() - ".java".length()));
            }
        }
        return sentences.found;
    }

    private void read(CompilationUnitTree unit, String type) {
        if (ELSEWHERE.contains(type)) {
            return;
        }
        new TreeScanner<@Nullable Void, Boolean>() {
            @Override
            public @Nullable Void visitNewClass(NewClassTree made, Boolean saying) {
                told("new " + made.getIdentifier(), made.getArguments());
                return super.visitNewClass(made, saying);
            }

            @Override
            public @Nullable Void visitMethodInvocation(MethodInvocationTree call, Boolean saying) {
                String name = call.getMethodSelect().toString();
                told(name, call.getArguments());
                if (name.equals("require") && RULES.contains(type)) {
                    call.getArguments().stream().skip(1).forEach(each -> add(each));
                }
                if (name.endsWith(".parsed") || name.endsWith(".texts") || name.equals("parsed")) {
                    call.getArguments().forEach(each -> add(each));
                }
                return super.visitMethodInvocation(call, saying);
            }

            @Override
            public @Nullable Void visitMethod(MethodTree method, Boolean saying) {
                return super.visitMethod(method, SAYING.stream().anyMatch(one -> one.endsWith("." + method.getName())));
            }

            @Override
            public @Nullable Void visitReturn(ReturnTree answer, Boolean saying) {
                if (Boolean.TRUE.equals(saying) && answer.getExpression() != null) {
                    add(answer.getExpression());
                }
                return super.visitReturn(answer, saying);
            }
        }.scan(unit, false);
    }

    private void told(String by, List<? extends ExpressionTree> arguments) {
        Integer which = SAID_BY.get(by);
        if (which != null && which < arguments.size()) {
            add(arguments.get(which));
        }
    }

    /** Of one word there is none: that is a code, or a field's name. */
    private void add(ExpressionTree said) {
        forms(said).stream()
                .filter(form -> form.replace("{}", "").strip().contains(" "))
                .forEach(found::add);
    }

    private static List<String> forms(ExpressionTree said) {
        if (said instanceof ParenthesizedTree inner) {
            return forms(inner.getExpression());
        }
        if (said instanceof LiteralTree literal) {
            return List.of(String.valueOf(literal.getValue()));
        }
        if (said instanceof ConditionalExpressionTree choice) {
            return join(forms(choice.getTrueExpression()), forms(choice.getFalseExpression()));
        }
        if (said instanceof SwitchExpressionTree choice) {
            return choice.getCases().stream()
                    .flatMap(each -> each.getBody() instanceof ExpressionTree one ? forms(one).stream() : Stream.of())
                    .toList();
        }
        if (said instanceof BinaryTree sum && sum.getKind() == Tree.Kind.PLUS) {
            List<String> rights = isText(sum.getRightOperand()) ? forms(sum.getRightOperand()) : List.of("{}");
            List<String> all = new ArrayList<>();
            for (String left : forms(sum.getLeftOperand())) {
                rights.forEach(right -> all.add(left + right));
            }
            return all;
        }
        return List.of("{}");
    }

    /** A sum in brackets may be one of numbers. */
    private static boolean isText(ExpressionTree said) {
        return !(said instanceof ParenthesizedTree inner)
                || !(inner.getExpression() instanceof BinaryTree)
                || inner.getExpression().toString().contains("\"");
    }

    private static List<String> join(List<String> some, List<String> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
    }
}
