package dev.hongbao.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.doctor.Check.Diagnosis.Severity;
import dev.hongbao.reconcile.LatestRuns;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.store.postgres.Months;
import dev.hongbao.store.redis.RedisAddress;
import dev.hongbao.store.redis.RedisLink.RedisInfo;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
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

class ChecksTest {
    private static final long NOW = 1_771_286_400_000L;
    private static final Duration DAY = Duration.ofDays(1);

    /** In seconds. */
    private static final double LONG_AGO = 1e7;

    @Test
    void connectionsMakeRoomAndAreNoQueueThatIsFull() {
        List<Diagnosis> found = Doctor.numbers("""
            hongbao_queue_fill_ratio{queue="claims"} 0.5
            hongbao_queue_fill_ratio{queue="connections"} 1.0
            """);

        assertThat(found).extracting(Diagnosis::severity).containsOnly(Severity.WELL);
        assertThat(found.get(0).text()).contains("fullest queue 50 %");
    }

    @Test
    void aCheckThatIsNotWellIsToldWithItsTime() {
        List<Diagnosis> found = Doctor.readiness(new JsonObject("""
            {"status":"DOWN","checks":[{"name":"redis","status":"DOWN","reason":"it lacks hset"},{"name":"postgres","status":"UP"},
            {"name":"http-loop-1","status":"DOWN"}],"since":{"redis":"2026-02-17T00:00:00Z"}}\
            """));

        assertThat(found).hasSize(2).allMatch(each -> each.severity() == Severity.BAD);
        assertThat(found.get(0).text()).contains("redis", "2026-02-17T00:00:00Z", "it lacks hset");
    }

    @Test
    void aServerThatIsNotReadyAndDoesNotSayWhyIsNotWell() {
        assertThat(Doctor.readiness(new JsonObject("{\"status\":\"DOWN\"}")))
                .extracting(Diagnosis::severity)
                .containsExactly(Severity.BAD);
    }

    @Test
    void readyAsksOnlyWhatMakesEveryAnswerImpossibleAndNothingThatAStartWarnsOf() {
        List<Check> asked =
                Stream.of(Check.values()).filter(check -> check.ready != null).toList();

        assertThat(asked)
                .containsExactlyInAnyOrder(Check.STAYING, Check.LOOP, Check.SHARDS, Check.REDIS, Check.POSTGRES)
                .noneMatch(check -> check.start == Check.Start.WARNS);
    }

    @Test
    void everySectionOfACheckIsInTheRunbook() throws Exception {
        Set<String> sections = sections();

        assertThat(Check.values()).allMatch(check -> check.section.isEmpty() || sections.contains(check.section));
    }

    @Test
    void whatIsWellIsOnlyTold() {
        assertThat(Stream.of(
                                Doctor.numbers("hongbao_shard_oldest_unsettled_seconds{shard=\"1\"} 0.5\n"),
                                RedisChecks.atWork(redis(Map.of()), NOW),
                                RedisChecks.check(redis(Map.of()), RedisAddress.Kind.SERVER),
                                PostgresChecks.sessions("18.1", 20, 100, 1, ""),
                                PostgresChecks.deadRows("account", 900_000, 1_000),
                                PostgresChecks.work(0, 0, 0, 3),
                                PostgresChecks.months(List.of(), 0),
                                PostgresChecks.books(
                                        List.of(run(false, 90_000.0, 0), run(true, 3_600.0, 0)), DAY, LONG_AGO),
                                PostgresChecks.books(List.of(), Duration.ZERO, LONG_AGO),
                                PostgresChecks.books(List.of(), DAY, 100_000),
                                PostgresChecks.replicas(0, 0, 0, 0),
                                PostgresChecks.replicas(2, 0, 0, 0),
                                PostgresChecks.replicas(2, 2, 1 << 20, 0.2),
                                MachineChecks.disk(20L << 30, 100L << 30))
                        .flatMap(List::stream))
                .allMatch(each -> each.severity() == Severity.WELL);
    }

    @Test
    void eachAilmentHasItsSectionInTheRunbook() throws Exception {
        Set<String> sections = sections();

        RedisInfo sick = redis(Map.of(
                "used_memory", "90",
                "maxmemory", "100",
                "maxmemory_policy", "allkeys-lru",
                "aof_enabled", "0",
                "aof_last_write_status", "err"));
        List<Diagnosis> found = Stream.of(
                        Doctor.numbers("""
                            hongbao_shard_oldest_unsettled_seconds{shard="1"} 11.5
                            hongbao_queue_fill_ratio{queue="claims"} 0.9
                            hongbao_journal_voids_total 1.0
                            hongbao_webhook_failing 2.0
                            """),
                        RedisChecks.atWork(sick, NOW + 5_000),
                        RedisChecks.check(sick, RedisAddress.Kind.SERVER),
                        PostgresChecks.sessions("18.1", 90, 100, 600, "hongbao"),
                        PostgresChecks.deadRows("account", 5_000_000, 1_000),
                        PostgresChecks.work(2, 1, 1, 4_000),
                        PostgresChecks.months(
                                List.of(new Months.Missing("transfer", LocalDate.of(2026, 12, 1), false)), 3),
                        PostgresChecks.books(List.of(run(true, 300_000.0, 2)), DAY, LONG_AGO),
                        PostgresChecks.books(List.of(run(false, 1.0, 0)), DAY, LONG_AGO),
                        PostgresChecks.replicas(1, 1, 2L << 30, 1),
                        PostgresChecks.replicas(1, 1, 0, 61),
                        MachineChecks.disk(10L << 30, 100L << 30),
                        MachineChecks.disk(500L << 20, 2L << 30))
                .flatMap(List::stream)
                .filter(each -> each.severity() != Severity.WELL)
                .toList();

        assertThat(found).hasSize(26).allMatch(each -> sections.contains(each.section()));
    }

    @Test
    void aStoreThatAnswersIsNotSaidToBeSilent() {
        // Given the settings that a store answers with
        List<Diagnosis> ofPostgres = Stream.of(
                        PostgresChecks.checksums("off"),
                        PostgresChecks.check(
                                new PostgresChecks.Settings(
                                        140_011, "off", "off", "LATIN1", "serializable", "on", 97, 0),
                                25))
                .flatMap(List::stream)
                .toList();

        // Then the section is about settings
        assertThat(ofPostgres).hasSize(7).allMatch(each -> each.section().equals("postgres-needs-attention"));
        assertThat(RedisChecks.checkCommands(List.of("xadd")))
                .allMatch(each -> each.section().equals("redis-is-not-set-up-for-this"));
    }

    private static Set<String> sections() throws IOException {
        return Files.readAllLines(Path.of("src/site/markdown/runbook.md")).stream()
                .filter(line -> line.startsWith("## "))
                .map(line -> line.substring(3).toLowerCase(Locale.ROOT).replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    private static LatestRuns.Latest run(boolean sinceCheckpoint, Double cleanAge, int violations) {
        return new LatestRuns.Latest(sinceCheckpoint, 10, cleanAge, Map.of(Finding.Severity.VIOLATION, violations));
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
