package dev.hongbao.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.store.embedded.EmbeddedServers;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.embedded.EmbeddedServers.InUseException;
import dev.hongbao.testing.TestServers;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which stores a command finds beside a server, and which it starts. */
class StoresIT {
    private static final String REDIS = "redis://127.0.0.1:1";
    private static final String POSTGRES = "postgresql://u:p@127.0.0.1:1/d";

    @TempDir
    private Path data;

    private HongbaoConfig config(String redis, String postgres) {
        Map<String, String> options = new LinkedHashMap<>(Map.of("data.dir", data.toString()));
        options.put("redis.url", redis);
        options.put("postgres.url", postgres);
        return HongbaoConfig.of(options);
    }

    private static void assertJoined(HongbaoConfig config, String redis, String admin, String owner, String app) {
        try (Stores joined = Stores.join(config)) {
            assertThat(joined.addresses().redisUrl()).isEqualTo(redis);
            assertThat(joined.adminAddresses().redisUrl()).isEqualTo(admin);
            assertThat(joined.addresses().owner().url()).isEqualTo(owner);
            assertThat(joined.addresses().app().url()).isEqualTo(app);
        }
    }

    @Test
    void aCommandTakesEachEmbeddedStoreOfARunningServerAndStartsNone() {
        // Given
        try (EmbeddedServers server =
                EmbeddedServers.start(data, EmbeddedOptions.defaults().withBinaries(TestServers.BINARIES))) {
            String app = server.redis().appUrl();
            String admin = server.redis().url();

            // Then: both, or one beside a store of the operator's own
            assertJoined(
                    config("", ""),
                    app,
                    admin,
                    server.postgres().ownerUrl(),
                    server.postgres().appUrl());
            assertJoined(config("", POSTGRES), app, admin, POSTGRES, POSTGRES);
            assertJoined(
                    config(REDIS, ""),
                    REDIS,
                    REDIS,
                    server.postgres().ownerUrl(),
                    server.postgres().appUrl());
            assertThat(server.redis().running()).isTrue();
            assertThat(server.postgres().running()).isTrue();
        }

        // When no server runs, then the command starts the store
        try (Stores own = Stores.join(config("", POSTGRES))) {
            assertThat(own.addresses().redisUrl()).startsWith("redis://hongbao:");
            assertThatThrownBy(() -> EmbeddedServers.start(data, EmbeddedOptions.defaults()))
                    .isInstanceOf(InUseException.class);
        }
    }
}
