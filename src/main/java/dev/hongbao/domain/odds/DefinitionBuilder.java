package dev.hongbao.domain.odds;

import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.odds.DrawDefinition.Cost;
import dev.hongbao.domain.odds.DrawDefinition.Guarantee;
import dev.hongbao.domain.odds.DrawDefinition.Limits;
import dev.hongbao.domain.odds.DrawDefinition.Schedule;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Builds a definition field by field. Null stands for none, as in {@link DrawDefinition}. */
public final class DefinitionBuilder {
    private final String name;
    private final Instant closesAt;
    private final DrawMode mode;
    private final List<Prize> prizes;
    private @Nullable GroupId group;
    private @Nullable Instant opensAt;
    private WhenExhausted whenExhausted = WhenExhausted.STOP;
    private @Nullable Prize fallback;
    private @Nullable Cost cost;
    private Limits limits = new Limits(0, 0, ZoneOffset.UTC);
    private List<Guarantee> guarantees = List.of();
    private @Nullable Schedule schedule;
    private Set<UserId> allow = Set.of();
    private Set<UserId> deny = Set.of();
    private boolean showLeft;
    private Metadata metadata = Metadata.NONE;

    DefinitionBuilder(String name, Instant closesAt, DrawMode mode, List<Prize> prizes) {
        this.name = name;
        this.closesAt = closesAt;
        this.mode = mode;
        this.prizes = prizes;
    }

    DefinitionBuilder(DrawDefinition from) {
        this(from.name(), from.closesAt(), from.mode(), from.prizes());
        this.group = from.group();
        this.opensAt = from.opensAt();
        this.whenExhausted = from.whenExhausted();
        this.fallback = from.fallback();
        this.cost = from.cost();
        this.limits = from.limits();
        this.guarantees = from.guarantees();
        this.schedule = from.schedule();
        this.allow = from.allow();
        this.deny = from.deny();
        this.showLeft = from.showLeft();
        this.metadata = from.metadata();
    }

    public DefinitionBuilder group(@Nullable GroupId id) {
        this.group = id;
        return this;
    }

    public DefinitionBuilder opensAt(@Nullable Instant moment) {
        this.opensAt = moment;
        return this;
    }

    public DefinitionBuilder whenExhausted(WhenExhausted then) {
        this.whenExhausted = then;
        return this;
    }

    public DefinitionBuilder fallback(@Nullable Prize prize) {
        this.fallback = prize;
        return this;
    }

    public DefinitionBuilder cost(@Nullable Cost ofOnePlay) {
        this.cost = ofOnePlay;
        return this;
    }

    public DefinitionBuilder limits(Limits ofOneUser) {
        this.limits = ofOneUser;
        return this;
    }

    public DefinitionBuilder guarantees(List<Guarantee> all) {
        this.guarantees = all;
        return this;
    }

    public DefinitionBuilder schedule(@Nullable Schedule releases) {
        this.schedule = releases;
        return this;
    }

    public DefinitionBuilder users(Set<UserId> allowed, Set<UserId> denied) {
        this.allow = allowed;
        this.deny = denied;
        return this;
    }

    public DefinitionBuilder showLeft(boolean shown) {
        this.showLeft = shown;
        return this;
    }

    public DefinitionBuilder metadata(Metadata words) {
        this.metadata = words;
        return this;
    }

    public DrawDefinition build() {
        return new DrawDefinition(
                name,
                group,
                opensAt,
                closesAt,
                mode,
                whenExhausted,
                prizes,
                fallback,
                cost,
                limits,
                guarantees,
                schedule,
                allow,
                deny,
                showLeft,
                metadata);
    }
}
