/** The fields of a packet that its proof needs; all are in `GET /v1/packets/{packet}` once the packet is closed. */
export interface ClosedPacket {
  id: string;
  asset: string;
  amount: number;
  count: number;
  min: number;
  max: number;
  split: string;
  splitVersion: number;
  status: string;
  commitment: string;
  /** 64 hexadecimal digits; null while the packet is open, which is refused. */
  seed: string | null;
  claimed: { count: number; amount?: number };
  luckiest: { slot: number } | null;
}

/** A claim as the pages of `GET /v1/packets/{packet}/claims` list it. */
export interface ClaimedShare {
  packet: string;
  user: string;
  slot: number;
  amount?: number;
  asset: string;
}

export interface Verdict {
  fair: boolean;
  /** The faults, in English; at most 20. */
  faults: string[];
  /** The amounts of all slots, minor units. */
  shares: number[];
}

/** Whether all claims on a closed packet are what its seed gives. Rejected with a TypeError when it cannot be told. */
export function verifyPacket(packet: ClosedPacket, claims: ClaimedShare[], known?: { commitment?: string }): Promise<Verdict>;

/** The commitment that a packet's seed and terms give: 64 hexadecimal digits. */
export function commitmentOf(packet: ClosedPacket): Promise<string>;

/** The amounts of all slots of a packet, minor units. */
export function sharesOf(packet: ClosedPacket): Promise<number[]>;

/** The fields of a rain that its proof needs; all are in `GET /v1/rains/{rain}` once the rain has ended. */
export interface EndedRain {
  id: string;
  commitment: string;
  /** 64 hexadecimal digits; null before the end, which is refused. */
  seed: string | null;
  startsAt: string;
  lastAt: string;
  cancelledAt: string | null;
  drops: number;
  budget: number;
  fallen: { packet: string; at: string; amount: number; over: boolean }[];
  caught: { amount: number };
  returned: number;
}

export interface RainVerdict {
  fair: boolean;
  /** The faults, in English; at most 20. */
  faults: string[];
  /** Of all drops, milliseconds from 1970. */
  moments: number[];
}

/** Whether the drops of a rain that is over fell when its seed says, with what its budget gives. Rejected with a TypeError when it cannot be told. */
export function verifyRain(rain: EndedRain, known?: { commitment?: string }): Promise<RainVerdict>;
