package dev.hongbao.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An input depends on its seed, its kind and its number, and on no input before it. */
class HostileTest {
    private static final int INPUTS = 3_000;
    private static final int PLACES = 4;

    private static byte[] spoilt(Hostile hostile, long number) {
        JsonObject tree = new JsonObject().put("amount", 1).put("users", new JsonArray().add("alice"));
        return hostile.spoilt(Input.of(7, "calls", number), tree, PLACES);
    }

    @Test
    void aSpoiltTreeIsTheSameAfterManyOthers() {
        Hostile used = new Hostile(List.of(0L, 100L));
        List<byte[]> first = new ArrayList<>();

        for (int number = 0; number < INPUTS; number++) {
            first.add(spoilt(used, number));
        }

        for (int number = 0; number < INPUTS; number++) {
            assertThat(spoilt(used, number)).as("input " + number).isEqualTo(first.get(number));
        }
    }
}
