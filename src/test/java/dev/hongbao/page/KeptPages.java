package dev.hongbao.page;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Ends what the page tests keep for the next class: before a class that is no page test, whose log the kept servers would
 * disturb, and after a failure, so that a second try finds everything fresh. For every class of a JVM.
 */
public final class KeptPages implements BeforeAllCallback, TestWatcher {
    private static volatile boolean isSpoiled;

    @Override
    public void beforeAll(ExtensionContext context) {
        boolean isPage = context.getRequiredTestClass().getPackageName().equals(KeptPages.class.getPackageName());
        if (isSpoiled || !isPage) {
            Home.closeAll();
            Browser.closeAll();
            isSpoiled = false;
        }
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        isSpoiled = true;
    }
}
