package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A tab's view of its group when events, claims and answers come in an unusual order. */
class RoomIT extends PageUse {
    /** A room, {@code other}, whose socket is {@code line}, and whose calls of rains and packets get {@code seen}, once that is there. */
    private static final String ROOM = """
            const [session] = arguments;
            const answers = {
              auth: () => ({ type: 'authenticated', expiresAt: session.expiresAt }),
              ping: () => ({ type: 'pong', at: new Date().toISOString() }),
              join: ({ group }) => ({ type: 'joined', group, cursor: '0', packets: [] }),
              leave: ({ group }) => ({ type: 'left', group }),
            };
            window.WebSocket = class {
              constructor() {
                window.line = this;
                setTimeout(() => this.onopen());
              }
              send(text) {
                const frame = JSON.parse(text);
                setTimeout(() => this.tell({ ...answers[frame.type](frame), id: frame.id }));
              }
              tell(frame) {
                this.onmessage({ data: JSON.stringify(frame) });
              }
            };
            let cursor = 0;
            window.happens = (type, data, group = session.group) => (
              line.tell({ type: 'event', event: { group, cursor: String(++cursor), at: '2026-02-17T00:00:00Z', type, data } }));
            const real = window.fetch;
            window.seen = new Promise((resolve) => { window.see = resolve; });
            window.asked = [];
            window.fetch = async (url, more) => {
              if (!/\\/v1\\/(rains|packets)\\/[^/?]+$/.test(url)) return real(url, more);
              window.asked.push(url);
              return Response.json(await window.seen);
            };
            import('/app/room.js').then(({ Room }) => { window.other = new Room(session); });
            """;

    private Browser page;

    @BeforeEach
    void enter() throws Exception {
        page = mei.browser();
        mei.knock(home.base);
        page.js(ROOM, family.session("demo-ben").getMap());
        page.seeTrue("return window.other?.known === true");
    }

    @Test
    void aClaimThatIsToldBeforeItsPacketIsOnIt() {
        // When the claim comes first: another server may be faster than the feed
        page.js("""
                line.tell({ type: 'claim.settled', claim: { packet: 'p', amount: 100, status: 'settled' } });
                happens('packet.sent', { packet: { id: 'p', sender: 'x', kind: 'lucky', status: 'open', claimed: { count: 0 }, mine: null } });
                """);

        // Then
        page.seeTrue("return other.find('p')?.mine?.amount === 100");
    }

    @Test
    void aLateLookAtAPacketUndoesNothingThatWasToldMeanwhile() {
        // Given a packet for some, at which the room looks
        page.js("""
                window.packet = { id: 'p', sender: 'x', kind: 'exclusive', status: 'open', count: 1, claimed: { count: 0 }, mine: null };
                happens('packet.sent', { packet });
                """);
        page.seeTrue("return asked.length === 1");

        // When it is claimed in another tab, and then the look is answered
        page.js("""
                line.tell({ type: 'claim.settled', claim: { packet: 'p', amount: 100, status: 'settled' } });
                happens('packet.drained', { packet: 'p', claimed: { count: 1 }, luckiest: null });
                """);
        page.seeTrue("return other.find('p').status === 'drained'");
        page.js("see({ ...packet, recipients: ['demo-ben'] })");
        page.seeTrue("return other.find('p').recipients?.length === 1");

        // Then
        assertThat(
                        page.js(
                                "const { status, mine, claimed } = other.find('p'); return [status, mine?.amount, claimed.count].join()"))
                .isEqualTo("drained,100,1");
    }

    @Test
    void ofManyRainsTheNewestAreKept() {
        // Given what a call of a rain that is over tells
        page.js("see({ status: 'ended', endsAt: '2026-02-17T00:01:00Z', caught: { count: 0, amount: 0 }, mine: [] })");

        // When more rains come and go than are kept
        page.js("""
                for (let n = 1; n <= 22; n++) {
                  const startsAt = new Date(Date.UTC(2026, 1, 17, 0, n)).toISOString();
                  happens('rain.announced', { rain: `r${n}`, channel: `rain:r${n}`, name: `Rain ${n}`, startsAt, endsAt: startsAt, catchesPerUser: 2 });
                  happens('rain.ended', { rain: `r${n}`, caught: { count: 0, amount: 0 } });
                }
                """);

        // Then
        page.seeTrue("return other.rains.length === 20 && other.rains.every(({ endedAt }) => endedAt !== null)");
        assertThat(page.js("return other.rains.map(({ told }) => told.name).at(0)"))
                .isEqualTo("Rain 3");
    }

    @Test
    void aRainThatEndedBeforeItsChannelIsFollowedIsOver() {
        // Given a rain that was found, and whose channel tells its drops, and not the end, which was told before
        page.js("""
                const client = { join: (channel, { onState }) => { setTimeout(() => onState([])); return Promise.resolve({ leave() {} }); } };
                import('/app/rain-watch.js').then(({ Rain }) => {
                  window.found = new Rain({ id: 'r', channel: 'rain:r', mine: [] }, { client, token: () => 't', onClaim() {}, onChange() {} });
                });
                """);
        page.seeTrue("return asked.length === 1");

        // When it is asked for
        page.js("see({ status: 'ended', endsAt: '2026-02-17T00:01:00Z', caught: { count: 0, amount: 0 }, mine: [] })");

        // Then it is known to be over
        page.seeTrue("return found.phase() === 'ended'");
    }
}
