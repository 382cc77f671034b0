package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.domain.reconcile.LatestRuns;
import dev.hongbao.engine.postgres.Months;
import dev.hongbao.engine.redis.RedisInfo;
import dev.hongbao.server.Ailment.Severity;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DoctorRulesTest {
    private static final long NOW = 1_771_286_400_000L;
    private static final Duration DAY = Duration.ofDays(1);

    /** In seconds. */
    private static final double LONG_AGO = 1e7;

    @Test
    void connectionsMakeRoomAndAreNoQueueThatIsFull() {
        List<Ailment> found = DoctorRules.numbers("""
                hongbao_queue_fill_ratio{queue="claims"} 0.5
                hongbao_queue_fill_ratio{queue="connections"} 1.0
                """);

        assertThat(found).extracting(Ailment::severity).containsOnly(Severity.WELL);
        assertThat(found.get(0).what()).contains("fullest queue 50 %");
    }

    @Test
    void aCheckThatIsNotWellIsToldWithItsTime() {
        List<Ailment> found = DoctorRules.readiness(new JsonObject("""
                {"status":"DOWN","checks":[{"name":"redis","status":"DOWN"},{"name":"postgres","status":"UP"},
                {"name":"http-loop-1","status":"DOWN"}],"since":{"redis":"2026-02-17T00:00:00Z"}}"""));

        assertThat(found).hasSize(2).allMatch(each -> each.severity() == Severity.BAD);
        assertThat(found.get(0).what()).contains("redis", "2026-02-17T00:00:00Z");
    }

    @Test
    void aServerThatIsNotReadyAndDoesNotSayWhyIsNotWell() {
        assertThat(DoctorRules.readiness(new JsonObject("{\"status\":\"DOWN\"}")))
                .extracting(Ailment::severity)
                .containsExactly(Severity.BAD);
    }

    @Test
    void whatIsWellIsNoAilment() {
        assertThat(Stream.of(
                                DoctorRules.numbers("hongbao_shard_oldest_unsettled_seconds{shard=\"1\"} 0.5\n"),
                                DoctorRules.redis(redis(Map.of()), NOW),
                                DoctorRules.postgres(new DoctorRules.Sessions("18.1", 20, 100, 1, "")),
                                DoctorRules.deadRows(new DoctorRules.DeadRows("account", 5_000_000, 90_000_000)),
                                DoctorRules.work(new DoctorRules.Work(0, 0, 0, 3)),
                                DoctorRules.months(List.of(), 0),
                                DoctorRules.books(
                                        List.of(run(false, 90_000.0, 0), run(true, 3_600.0, 0)), DAY, LONG_AGO),
                                DoctorRules.books(List.of(), Duration.ZERO, LONG_AGO),
                                DoctorRules.books(List.of(), DAY, 100_000),
                                DoctorRules.replicas(new DoctorRules.Replicas(0, 0, 0, 0)),
                                DoctorRules.replicas(new DoctorRules.Replicas(2, 0, 0, 0)),
                                DoctorRules.replicas(new DoctorRules.Replicas(2, 2, 1 << 20, 0.2)),
                                DoctorRules.disk(20L << 30, 100L << 30))
                        .flatMap(List::stream))
                .allMatch(each -> each.severity() == Severity.WELL);
    }

    @Test
    void eachAilmentHasItsSectionInTheRunbook() throws Exception {
        Set<String> sections = Files.readAllLines(Path.of("src/site/markdown/runbook.md")).stream()
                .filter(line -> line.startsWith("## "))
                .map(line -> line.substring(3).toLowerCase(Locale.ROOT).replace(' ', '-'))
                .collect(Collectors.toSet());

        List<Ailment> found = Stream.of(
                        DoctorRules.numbers("""
                                hongbao_shard_oldest_unsettled_seconds{shard="1"} 11.5
                                hongbao_queue_fill_ratio{queue="claims"} 0.9
                                hongbao_journal_voids_total 1.0
                                hongbao_webhooks_failing 2.0
                                """),
                        DoctorRules.redis(
                                redis(Map.of(
                                        "used_memory",
                                        "90",
                                        "maxmemory",
                                        "100",
                                        "maxmemory_policy",
                                        "allkeys-lru",
                                        "aof_enabled",
                                        "0",
                                        "aof_last_write_status",
                                        "err")),
                                NOW + 5_000),
                        DoctorRules.postgres(new DoctorRules.Sessions("18.1", 90, 100, 600, "hongbao")),
                        DoctorRules.deadRows(new DoctorRules.DeadRows("account", 5_000_000, 1_000)),
                        DoctorRules.work(new DoctorRules.Work(2, 1, 1, 4_000)),
                        DoctorRules.months(
                                List.of(new Months.Missing("transfer", LocalDate.of(2026, 12, 1), false)), 3),
                        DoctorRules.books(List.of(run(true, 300_000.0, 2)), DAY, LONG_AGO),
                        DoctorRules.books(List.of(run(false, 1.0, 0)), DAY, LONG_AGO),
                        DoctorRules.replicas(new DoctorRules.Replicas(1, 1, 2L << 30, 1)),
                        DoctorRules.replicas(new DoctorRules.Replicas(1, 1, 0, 61)),
                        DoctorRules.disk(10L << 30, 100L << 30),
                        DoctorRules.disk(500L << 20, 2L << 30))
                .flatMap(List::stream)
                .filter(each -> each.severity() != Severity.WELL)
                .toList();

        assertThat(found).hasSize(26).allMatch(each -> sections.contains(each.section()));
    }

    private static LatestRuns.Latest run(boolean sinceCheckpoint, Double cleanAge, int violations) {
        return new LatestRuns.Latest(sinceCheckpoint, 10, cleanAge, new LatestRuns.Found(violations, 0, 0));
    }

    private static RedisInfo redis(Map<String, String> changed) {
        Map<String, String> values = new HashMap<>(Map.of(
                "redis_version", "7.4.0",
                "role", "master",
                "uptime_in_seconds", "77",
                "used_memory", "1000000",
                "maxmemory", "0",
                "maxmemory_policy", "noeviction",
                "aof_enabled", "1",
                "aof_last_write_status", "ok",
                "server_time_usec", NOW + "000"));
        values.putAll(changed);
        return new RedisInfo(values);
    }
}
