package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.engine.ShardLog.State;
import dev.hongbao.engine.ShardStore.ShardRow;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The states of a shard, and the moves between them. */
class ShardLogTest {
    private static final Generation GENERATION = new Generation("test", 3, 7, "nonce");

    private static final Map<String, Consumer<ShardLog>> MOVES = Map.of(
            "acquire", ShardLog::acquire,
            "resume", log -> log.resume(row(5)),
            "yield", ShardLog::yield,
            "suspend", ShardLog::suspend,
            "lose", ShardLog::lose);

    private static ShardRow row(long cursor) {
        return new ShardRow(GENERATION, cursor, "replid", 0, Set.of());
    }

    private static ShardLog in(State state) {
        List<String> way = switch (state) {
            case FOREIGN -> List.of();
            case SUSPENDED -> List.of("acquire");
            case LIVE -> List.of("acquire", "resume");
            case YIELDING -> List.of("acquire", "resume", "yield");
        };
        ShardLog log = new ShardLog(Loop.of(null), GENERATION);
        way.forEach(move -> MOVES.get(move).accept(log));
        assertThat(log.state()).isEqualTo(state);
        return log;
    }

    @ParameterizedTest
    @EnumSource
    void onlyTheMovesOfTheDiagramArePossible(State state) {
        Map<String, State> possible = switch (state) {
            case FOREIGN -> Map.of("acquire", State.SUSPENDED);
            case SUSPENDED -> Map.of("resume", State.LIVE);
            case LIVE -> Map.of("yield", State.YIELDING, "suspend", State.SUSPENDED);
            case YIELDING -> Map.of("suspend", State.SUSPENDED);
        };
        MOVES.forEach((name, move) -> {
            // Given
            ShardLog log = in(state);
            long before = log.incarnation();
            State after = name.equals("lose") ? State.FOREIGN : possible.get(name);

            if (after == null) {
                // When a move is not in the diagram, Then it changes nothing
                assertThatThrownBy(() -> move.accept(log)).isInstanceOf(IllegalStateException.class);
                assertThat(log.state()).isEqualTo(state);
            } else {
                // When it is, Then results of the state before are dropped
                move.accept(log);
                assertThat(log.state()).isEqualTo(after);
                assertThat(log.incarnation()).isGreaterThan(before);
            }
        });
    }
}
