package dev.hongbao.store.redis;

/** A link for a test that does something around the commands of another one. */
public abstract class RelayedLink implements RedisLink {
    protected final RedisLink link;

    protected RelayedLink(RedisLink link) {
        this.link = link;
    }

    @Override
    public boolean isConnected() {
        return link.isConnected();
    }

    @Override
    public RedisLink server() {
        return link.server();
    }
}
