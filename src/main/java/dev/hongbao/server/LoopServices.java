package dev.hongbao.server;

import dev.hongbao.claim.ClaimService;
import dev.hongbao.draw.DrawService;
import dev.hongbao.feed.FeedService;
import dev.hongbao.packet.PacketService;
import dev.hongbao.play.PlayService;
import dev.hongbao.redis.RedisLink;

/** The services of one event loop, with its own link to Redis. Use them on that loop only. */
public record LoopServices(
        RedisLink redis,
        ClaimService claims,
        PacketService packets,
        FeedService feed,
        DrawService draws,
        PlayService plays) {}
