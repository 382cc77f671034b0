package dev.hongbao.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GatheredLookupsTest {
    private final List<List<Integer>> queries = new ArrayList<>();
    private final List<Promise<Map<Integer, String>>> answers = new ArrayList<>();
    private final GatheredLookups<Integer, String> lookups = new GatheredLookups<>(keys -> {
        queries.add(keys);
        answers.add(Promise.promise());
        return answers.get(answers.size() - 1).future();
    });

    private void answer(int query) {
        answers.get(query)
                .complete(queries.get(query).stream()
                        .filter(key -> key >= 0)
                        .collect(Collectors.toMap(Function.identity(), key -> "value " + key)));
    }

    @Test
    void keysGatherWhileQueriesAreUnderWay() {
        // Given two queries under way
        List<Future<String>> found =
                new ArrayList<>(IntStream.range(0, 5).mapToObj(lookups::find).toList());
        found.add(lookups.find(3));
        found.add(lookups.find(-1));
        assertThat(queries).containsExactly(List.of(0), List.of(1));

        // When
        answer(0);

        // Then the rest is one query, each key once
        assertThat(queries).containsExactly(List.of(0), List.of(1), List.of(2, 3, 4, -1));
        answer(1);
        answer(2);
        assertThat(found.stream().map(Future::result))
                .containsExactly("value 0", "value 1", "value 2", "value 3", "value 4", "value 3", null);
        assertThat(lookups.size()).isZero();
    }

    @Test
    void aQueryThatFailsFailsItsKeysAndNoOthers() {
        Future<String> first = lookups.find(1);
        Future<String> second = lookups.find(2);

        answers.get(0).fail("away");
        answer(1);

        assertThat(first.failed()).isTrue();
        assertThat(second.result()).isEqualTo("value 2");
        assertThat(lookups.find(1).isComplete()).isFalse();
        assertThat(queries).hasSize(3);
    }

    @Test
    void aQueryTakesNoMoreThan256Keys() {
        IntStream.range(0, 600).forEach(lookups::find);
        answer(0);
        answer(1);

        assertThat(queries.stream().map(List::size)).containsExactly(1, 1, 256, 256);
    }
}
