package dev.hongbao.store.embedded;

import dev.hongbao.store.redis.RedisCommands;

/**
 * The server's rights in Redis, as an ACL: the commands that the server and its scripts call, and no others. A stolen password
 * can take claims. It cannot read or change the configuration, load a module, or empty the server at once. It can load scripts,
 * since recovery loads each shard's own.
 */
public final class RedisPermissions {
    /** The server's user in the embedded Redis. */
    public static final String USER = "hongbao";

    /** The rules after {@code ACL SETUSER hongbao on >password}. */
    public static final String RULES =
            "~* resetchannels &hongbao:* -@all +hello +auth +ping +info +select +cluster|slots +"
                    + String.join(" +", RedisCommands.OF_LINE) + " +" + String.join(" +", RedisCommands.NEEDED);

    private RedisPermissions() {}
}
