package dev.hongbao.tools.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.local.Debugger.Act;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DebuggerTest {
    private static final long LIMIT_MILLIS = 20_000;

    /** Numbers, said in some seconds. */
    private static final int MOST = 2_000;

    /** Says a number every few milliseconds, each a method's call. */
    static final class Counting {
        public static void main(String[] none) throws Exception {
            Counting counting = new Counting();
            for (int number = 0; ; number++) {
                counting.say(number);
                TimeUnit.MILLISECONDS.sleep(5);
            }
        }

        void say(int number) {
            System.out.println(number);
        }
    }

    private Debugger debugger;
    private Process child;
    private BufferedReader said;

    @BeforeEach
    void start() throws IOException {
        debugger = new Debugger();
        child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        debugger.flag(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Counting.class.getName())
                .start();
        said = child.inputReader();
    }

    @AfterEach
    void stop() {
        debugger.close();
        child.destroyForcibly();
    }

    private int next() throws IOException {
        return Integer.parseInt(said.readLine());
    }

    /** Reads on until a number and the one after it differ by something else than one. @return by what; 1 when they never do */
    private int unusualStep(int first) throws IOException {
        int before = first;
        for (int read = 0; read < MOST; read++) {
            int now = next();
            if (now - before != 1) {
                return now - before;
            }
            before = now;
        }
        return 1;
    }

    @Test
    @DisplayName(
            "Given a JVM, when it is to stand still at a method, then nothing of the method is done until it goes on")
    void itStandsStillWhereTheMethodBegins() throws Exception {
        next();
        debugger.at(Act.STAND_STILL, Counting.class.getName(), "say");

        assertThat(debugger.awaitStop(LIMIT_MILLIS)).isTrue();
        while (said.ready()) {
            next();
        }
        TimeUnit.MILLISECONDS.sleep(100); // in which it would have said twenty
        assertThat(said.ready()).isFalse();
        debugger.goOn();
        next();
    }

    @Test
    @DisplayName(
            "Given a JVM, when a method is left out, then what it would have done is missing, and later ones are not")
    void aMethodIsLeftOut() throws Exception {
        int first = next();
        debugger.at(Act.LEAVE_OUT, Counting.class.getName(), "say");
        TimeUnit.MILLISECONDS.sleep(50);
        debugger.goOn();

        assertThat(unusualStep(first)).isGreaterThan(1);
    }

    @Test
    @DisplayName("Given a JVM, when a method is run twice, then what it does is done twice")
    void aMethodIsRunTwice() throws Exception {
        int first = next();
        debugger.at(Act.RUN_TWICE, Counting.class.getName(), "say");

        assertThat(unusualStep(first)).isZero();
    }
}
