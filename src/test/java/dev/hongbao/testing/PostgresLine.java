package dev.hongbao.testing;

import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.local.LossyProxy;
import java.io.IOException;
import java.net.URI;

/** A {@link LossyProxy} in front of a test's Postgres. */
public final class PostgresLine {
    private PostgresLine() {}

    public static LossyProxy of(TestServers servers) throws IOException {
        URI postgres = URI.create(servers.postgresAppUrl());
        return new LossyProxy(postgres.getHost(), postgres.getPort());
    }

    /** The stores of these servers: the application reaches Postgres through the line, its owner directly. */
    public static StoreAddresses stores(LossyProxy line, TestServers servers) {
        StoreAddresses direct = TestEngine.stores(servers);
        URI postgres = URI.create(servers.postgresAppUrl());
        String through = servers.postgresAppUrl()
                .replace("@" + postgres.getHost() + ":" + postgres.getPort(), "@127.0.0.1:" + line.port());
        return new StoreAddresses(direct.redisUrl(), direct.owner(), PostgresAddress.of(through));
    }
}
