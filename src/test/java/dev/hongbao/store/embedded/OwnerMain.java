package dev.hongbao.store.embedded;

import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** A JVM to be killed: starts the servers, writes one value into each, prints the pids and waits. */
final class OwnerMain {
    private OwnerMain() {}

    public static void main(String[] args) throws Exception {
        EmbeddedOptions options = EmbeddedOptions.defaults().withBinaries(Path.of(args[1]));
        EmbeddedServers servers = EmbeddedServers.start(Path.of(args[0]), options);
        StoredValue.write(servers, args[2]);
        System.out.println(servers.redis().pid() + " " + servers.postgres().pid());
        new CountDownLatch(1).await();
    }
}
