package dev.hongbao.cli;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.doctor.Check.Diagnosis.Severity;
import dev.hongbao.doctor.Checks;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints the failed checks and the first step for each. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "Checks the configured server and its stores for the faults of the runbook, worst first.",
            "Read-only. Each finding names its section of the runbook in the guide; the first one's section is printed.",
            "Exit code 1 if callers are refused or soon will be, or if the books break a rule."
        })
final class DoctorCommand implements Callable<Integer> {
    private static final String RUNBOOK = "/docs/guide/runbook.html#";

    /** The runbook page inside this jar, since the server that serves the guide may be down. */
    private static final String PAGE = "webroot/docs/guide/runbook.html";

    private final ConfigFlags config;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    DoctorCommand(ConfigFlags config) {
        this.config = config;
    }

    /** The runbook's section as text; empty when this jar has no guide. */
    private static String section(String id) {
        try (InputStream in = DoctorCommand.class.getClassLoader().getResourceAsStream(PAGE)) {
            return in == null ? "" : section(new String(in.readAllBytes(), StandardCharsets.UTF_8), id);
        } catch (IOException unreadable) {
            return "";
        }
    }

    /** The paragraphs below a heading, without their tags. */
    static String section(String html, String id) {
        Matcher section = Pattern.compile(
                        "<h2 id=\"" + Pattern.quote(id) + "\">.*?</h2>(.*?)(?=<h2|</main>|</body>|$)", Pattern.DOTALL)
                .matcher(html);
        if (!section.find()) {
            return "";
        }
        String text =
                section.group(1).replaceAll("<[^>]*>", "").replace("&lt;", "<").replace("&gt;", ">");
        return text.replace("&quot;", "\"").replace("&amp;", "&").strip().indent(2);
    }

    @Override
    public Integer call() {
        HongbaoConfig loaded = config.load().config();
        Logging.choose(loaded.log());
        List<Diagnosis> found = Checks.examine(loaded);
        PrintWriter out = spec.commandLine().getOut();
        Diagnosis worst = found.get(0);
        out.println(
                worst.severity() == Severity.WELL
                        ? "All is well."
                        : "First: " + worst.text() + ". See " + RUNBOOK + worst.section());
        if (!worst.section().isEmpty()) {
            out.println(section(worst.section()));
        }
        for (Diagnosis each : found) {
            out.printf("%-5s %s%n", each.severity().name().toLowerCase(Locale.ROOT), each.text());
            if (!each.section().isEmpty()) {
                out.println("      " + RUNBOOK + each.section());
            }
        }
        out.flush();
        return worst.severity() == Severity.BAD ? ExitCode.SOFTWARE : ExitCode.OK;
    }
}
