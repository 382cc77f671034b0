export { verifyPacket, verifyRain } from './hongbao-verify.js';

/** A problem document (RFC 9457), as over HTTP. */
export interface Problem {
  type: string;
  title?: string;
  status?: number;
  detail?: string;
  /** Which cause the refusal has, where its type has several: `recipient`, `group`, …; see `Problem.reason` in openapi.yaml. */
  reason?: string;
  errors?: { pointer: string; detail: string }[];
  /** Names the request in the server's log; of a call over HTTP. */
  requestId?: string;
  /** The same request may be repeated after so long. */
  retryAfterSeconds?: number;
}

/** A refusal by the server, or the loss of the connection: `kind` is `disconnected` then. */
export class HongbaoError extends Error {
  constructor(problem: Problem);
  /** The end of the problem's type: `drained`, `expired`, `insufficient-funds`, …; switch on that. */
  readonly kind: string;
  /** The problem's `reason`; null for a kind that has one cause. */
  readonly reason: string | null;
  readonly problem: Problem;
  /** Seconds after which the same request may be repeated; 0 when waiting does not help. */
  readonly retryAfterSeconds: number;
}

export type Kind = 'lucky' | 'equal' | 'exclusive';
export type SplitName = 'double-mean' | 'inflate' | 'even-luck' | 'equal';

/** As the body of `POST /v1/packets`. Amounts are whole minor units, fen for CNY. */
export interface Send {
  group: string;
  kind: Kind;
  asset: string;
  amount: number;
  count: number;
  min?: number | null;
  max?: number | null;
  split?: SplitName | null;
  greeting?: string | null;
  /** Free words, 20 keys and 2,048 bytes as JSON at the most. */
  metadata?: Record<string, string> | null;
  recipients?: string[] | null;
  passcode?: string | null;
  /** RFC 3339. */
  opensAt?: string | null;
  expiresInSeconds?: number | null;
}

export interface Claim {
  packet: string;
  user: string;
  slot: number;
  amount: number;
  asset: string;
  status: 'accepted' | 'settled';
  /** The time of its settlement; null while it is only accepted. */
  at: string | null;
}

export interface Packet {
  id: string;
  group: string;
  sender: string;
  kind: Kind;
  asset: string;
  amount: number;
  count: number;
  min: number;
  max: number;
  split: SplitName;
  splitVersion: number;
  greeting: string | null;
  /** Of an exclusive packet, for its sender and recipients. */
  recipients?: string[];
  metadata?: Record<string, string>;
  passcodeRequired: boolean;
  status: 'open' | 'drained' | 'expired' | 'refunded' | 'cancelled' | 'closed';
  createdAt: string;
  opensAt: string;
  expiresAt: string;
  claimed: { count: number; amount?: number };
  campaign: { id: string; name: string; product: string; openedBy: string } | null;
  mine: Claim | null;
  luckiest: Claim | null;
  commitment: string;
  seed: string | null;
  profiles?: Profiles;
}

/** Names and pictures of the users named beside it, by user id. A user without either is absent. */
export type Profiles = Record<string, { displayName: string | null; avatar: string | null }>;

export interface Play {
  draw: string;
  seq: number;
  user: string;
  number: number;
  prize: string;
  category?: string;
  asset?: string;
  amount?: number;
  code?: string;
  at: string;
  state?: 'pending' | 'sent' | 'done';
}

/** A claim that the host's backend makes for a user, with the groups and traits of a token. */
export interface UserClaim {
  user: string;
  packet: string;
  passcode?: string | null;
  groups?: string[] | null;
  traits?: Record<string, string> | null;
}

/** A request of plays that the host's backend makes for a user. */
export interface UserPlay {
  user: string;
  draw: string;
  /** The idempotency key; a random one when left out. */
  key?: string;
  plays?: number | null;
  groups?: string[] | null;
}

/** The outcome that the user's own call would have had. */
export interface ClaimOutcome {
  status: number;
  claim?: Claim;
  problem?: Problem;
}

/** The outcome that the user's own call would have had. */
export interface PlayOutcome {
  status: number;
  plays?: { items: Play[]; next: null };
  problem?: Problem;
}

export interface Win {
  seq: number;
  user: string;
  number: number;
  prize: string;
  category?: string;
  asset?: string;
  amount?: number;
}

/** A rain as its groups are told of it; its drops are packets of its `channel`. */
export interface Rain {
  rain: string;
  channel: string;
  name: string;
  metadata?: Record<string, string>;
  asset: string;
  budget: number;
  startsAt: string;
  lastAt: string;
  endsAt: string;
  drops: number;
  sharesPerDrop: number;
  catchesPerUser: number;
  /** Milliseconds: wait with the first tap for a random time below it. */
  firstTapWithin: number;
  commitment: string;
}

/** A rain that is not over, as `GET /v1/groups/{group}/rains` lists it. */
export interface CurrentRain extends Omit<Rain, 'rain'> {
  id: string;
  status: 'planned' | 'falling' | 'ending';
  everyone: boolean;
  groups: string[];
  cancelledAt: string | null;
  caught: { count: number; amount: number };
  returned: number;
  seed: null;
  /** The user's catches in it. */
  mine: Claim[];
}

interface Told<Type extends string, Data> {
  group: string;
  cursor: string;
  type: Type;
  at: string;
  data: Data;
}

/** One event of a group's feed; `type` decides what `data` is. Pass over types that are not here: more will come. */
export type Event =
  | Told<'packet.sent', { packet: Packet }>
  | Told<'packet.progress', { packet: string; count: number; claimed: { count: number } }>
  | Told<'packet.drained' | 'packet.expired', { packet: string; count: number; claimed: { count: number; amount: number }; luckiest: Claim | null; profiles?: Profiles }>
  | Told<'packet.refunded', { packet: string; sender: string; asset: string; amount: number; status: 'refunded' | 'cancelled' | 'closed'; claimed: { count: number; amount: number }; profiles?: Profiles }>
  | Told<'draw.opened', { draw: string; name: string; metadata?: Record<string, string>; closesAt: string }>
  | Told<'draw.won', { draw: string; name: string; count: number; wins: Win[]; profiles?: Profiles }>
  | Told<'draw.closed', { draw: string; name: string }>
  | Told<'rain.announced', Rain>
  | Told<'rain.started', { rain: string; channel: string; endsAt: string; firstTapWithin: number }>
  | Told<'rain.caught' | 'rain.ended', { rain: string; channel: string; asset: string; caught: { count: number; amount: number } }>;

/** The part of a WebSocket that the client uses: a browser's, Node 22's, or that of the package `ws`. */
export type WebSocketClass = new (url: string, protocol: string) => {
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  send(text: string): void;
  close(code?: number): void;
};

export interface Options {
  /** A JWT, or better a function that gets a fresh one: for every connection, and a minute before the one in use expires. */
  token: string | (() => string | Promise<string>);
  /** Of the socket, `wss://…/v1/socket`; in a browser the page's own server when left out. */
  url?: string;
  /** Milliseconds between two pings of the server; 15,000 when left out. */
  heartbeatMillis?: number;
  /** Milliseconds that the server has to answer one, before the connection is cut; 10,000 when left out. */
  pongMillis?: number;
  /** Milliseconds that any other answer may take, before the connection is cut; 30,000 when left out. */
  answerMillis?: number;
  /** The most frames a second that the client sends: the server takes 20. Half after each refusal as too fast, one more at each later ping. */
  messagesPerSecond?: number;
  onState?: (state: 'connecting' | 'open' | 'waiting' | 'closed', why?: string) => void;
  /** The user's own claims made elsewhere. */
  onClaim?: (claim: Claim) => void;
  /** The user's own plays made elsewhere. */
  onPlays?: (plays: Play[]) => void;
  /** Needed in Node before 22: that of the package `ws`. */
  WebSocket?: WebSocketClass;
}

export interface GroupHandlers {
  /** Told one event after the other; a promise is waited for. */
  onEvent: (event: Event) => void | Promise<void>;
  onState?: (packets: Packet[], reason: 'start' | 'cursor-too-old' | 'cursor-unknown') => void | Promise<void>;
  /** Told last, when the server ends what was joined; not when the client is closed. */
  onLeft?: (error: HongbaoError) => void | Promise<void>;
  /** A cursor to go on from; now when left out. */
  after?: string;
  /** The most packets that `onState` gets, 0 to 50. */
  packets?: number;
}

export interface Membership {
  /** Of what was handled, to go on from another time. */
  cursor(): string;
  leave(): Promise<void>;
}

/** Connects, and stays connected until {@link HongbaoClient.close}. */
export function connect(options: Options): HongbaoClient;

export class HongbaoClient {
  constructor(options: Options);
  join(group: string, handlers: GroupHandlers): Promise<Membership>;
  /** @param key the idempotency key; a random one when left out */
  send(packet: Send, key?: string): Promise<Packet>;
  /** @param key the idempotency key; a random one when left out */
  open(pool: { campaign: string; product: string; group: string; metadata?: Record<string, string> }, key?: string): Promise<Packet>;
  claim(packet: string, options?: { passcode?: string; onAccepted?: (claim: Claim) => void }): Promise<Claim>;
  play(draw: string, options?: { plays?: number; key?: string }): Promise<Play[]>;
  /** With a token of the role service: claims for many users, each answered by itself, in their order. */
  claimMany(claims: UserClaim[]): Promise<ClaimOutcome[]>;
  /** As {@link claimMany}. */
  playMany(plays: UserPlay[]): Promise<PlayOutcome[]>;
  /** The rains of a group that are announced or fall now, the earliest first. Asked over HTTP. */
  rains(group: string): Promise<CurrentRain[]>;
  /** The server's time. */
  ping(): Promise<string>;
  /** The server's time, milliseconds since 1970, as its last pong told. */
  now(): number;
  close(): void;
}

/** An idempotency key. */
export function randomKey(): string;
