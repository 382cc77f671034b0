package dev.hongbao.mutants;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** A JVM in which the tests of one mutant run: it ends at the first that fails. Arguments: {@code full.Name} or {@code full.Name#method}. */
final class MutantJvm {
    static final String CAUGHT = "CAUGHT ";
    static final int EXIT_CAUGHT = 10;
    static final int EXIT_SURVIVED = 11;

    private MutantJvm() {}

    public static void main(String[] tests) {
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String test : tests) {
            selectors.add(test.contains("#") ? selectMethod(test) : selectClass(test));
        }
        LauncherDiscoveryRequest request =
                LauncherDiscoveryRequestBuilder.request().selectors(selectors).build();
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, summary, new FirstFailure());
        boolean ran = summary.getSummary().getTestsSucceededCount() > 0;
        Runtime.getRuntime().halt(ran ? EXIT_SURVIVED : 1);
    }

    /** Says which test failed, and ends everything. */
    private static final class FirstFailure implements TestExecutionListener {
        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                String why = String.valueOf(result.getThrowable().orElse(null)).replaceAll("\\s+", " ");
                System.out.println(
                        CAUGHT + test.getDisplayName() + " | " + why.substring(0, Math.min(160, why.length())));
                System.out.flush();
                Runtime.getRuntime().halt(EXIT_CAUGHT);
            }
        }
    }
}
