// That the types of hongbao-client.js say what an application asks of them: it is compiled, and not run.
import { connect, type Event, HongbaoError, type Packet } from 'hongbao-client';

export async function play(token: string): Promise<number> {
  const packets = new Map<string, Packet>();
  const client = connect({ url: 'wss://example.com/v1/socket', token: async () => token, messagesPerSecond: 10 });
  const onEvent = async (event: Event) => {
    if (event.type === 'packet.sent') packets.set(event.data.packet.id, event.data.packet);
    if (event.type === 'draw.opened') console.log(event.data.metadata?.theme);
    if (event.type === 'packet.drained' && event.data.luckiest) console.log(event.data.luckiest.amount);
  };
  const membership = await client.join('family', {
    onEvent,
    onState: (state, reason) => console.log(state.length, reason),
    onLeft: ({ kind }) => console.log(kind),
  });
  const cursor: string = membership.cursor();
  try {
    const packet = await client.send({ group: 'family', kind: 'lucky', asset: 'CNY', amount: 888, count: 8 });
    const claim = await client.claim(packet.id, { onAccepted: ({ at }) => console.log(at satisfies string | null) });
    const [outcome] = await client.claimMany([{ user: 'bob', packet: packet.id, groups: ['family'] }]);
    const [played] = await client.playMany([{ user: 'bob', draw: 'd', plays: 10 }]);
    console.log(outcome?.claim?.amount, outcome?.problem?.type, played?.plays?.items.length);
    return claim.amount + cursor.length;
  } catch (error) {
    return error instanceof HongbaoError && error.kind === 'drained' ? 0 : error as never;
  }
}
