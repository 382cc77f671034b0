package dev.hongbao.engine.embedded;

import dev.hongbao.engine.redis.RedisCommands;

/**
 * What the server may do in Redis, as an ACL has it: the commands that it and its scripts call, and no others. Who gets hold of its password can
 * take claims, but neither read and change the configuration, nor load a module, nor empty the server at once. Scripts can still be
 * loaded, by recovery: each shard's is its own.
 */
public final class RedisPermissions {
    /** The user that the embedded Redis has for the server. */
    public static final String USER = "hongbao";

    /** After {@code ACL SETUSER hongbao on >password}. */
    public static final String RULES =
            "~* resetchannels &hongbao:* -@all +hello +auth +ping +info +select +cluster|slots +"
                    + String.join(" +", RedisCommands.OF_LINE) + " +" + String.join(" +", RedisCommands.NEEDED);

    private RedisPermissions() {}
}
