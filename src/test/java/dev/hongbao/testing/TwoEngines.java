package dev.hongbao.testing;

import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests on two servers with the same stores, which all tests of a class share. A shop has money; the books are held to the rules at the end. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class TwoEngines {
    protected TestServers servers;
    protected Books books;
    protected TestEngine engine;
    protected TestEngine other;

    @BeforeAll
    protected void startBoth(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 2, options());
        other = TestEngine.start(servers, 2, options());
        engine.deposit("shop", 10_000_000);
    }

    @AfterAll
    protected void stopBoth() {
        other.close();
        engine.close();
        assertBooks();
    }

    /** Of both servers, where the defaults will not do. */
    protected Map<String, String> options() {
        return Map.of();
    }

    /** Called when both servers are stopped. */
    protected void assertBooks() {
        books.assertReconciled();
    }
}
