/** Load of traffic, as far as it is known in advance: 0 where it depends on the target. */
export interface TrafficEstimate {
  /** Open at once. */
  readonly connections: number;
  /** Connections opened in a second. */
  readonly opens: number;
  readonly txPps: number;
  readonly rxPps: number;
  /** Bits a second on the wire, headers included. */
  readonly txBps: number;
  readonly rxBps: number;
}

export const noTraffic: TrafficEstimate = { connections: 0, opens: 0, txPps: 0, rxPps: 0, txBps: 0, rxBps: 0 };

/** Ethernet with checksum, IPv4 and TCP or UDP. */
export const tcpHeaderBytes = 18 + 20 + 20;
export const udpFrameBytes = 18 + 20 + 8;
const segmentBytes = 1460;

interface Exchange {
  /** In a second. */
  readonly rate: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** Bytes there and back over TCP: each side's segments, acknowledged by what goes the other way. */
export const estimateTcp = ({ rate, sentBytes, receivedBytes }: Exchange) => {
  const [sent, received] = [Math.ceil(sentBytes / segmentBytes), Math.ceil(receivedBytes / segmentBytes)];
  const packets = Math.max(sent, received);
  return {
    txPps: rate * packets,
    rxPps: rate * packets,
    txBps: rate * 8 * (sentBytes + packets * tcpHeaderBytes),
    rxBps: rate * 8 * (receivedBytes + packets * tcpHeaderBytes),
  };
};

export const estimateDatagrams = ({ rate, sentBytes, receivedBytes }: Exchange) => ({
  txPps: rate,
  rxPps: receivedBytes > 0 ? rate : 0,
  txBps: rate * 8 * (sentBytes + udpFrameBytes),
  rxBps: receivedBytes > 0 ? rate * 8 * (receivedBytes + udpFrameBytes) : 0,
});

export const addEstimates = (all: readonly Partial<TrafficEstimate>[]): TrafficEstimate => {
  const sum = (name: keyof TrafficEstimate) => all.reduce((total, estimate) => total + (estimate[name] ?? 0), 0);
  return {
    connections: sum('connections'),
    opens: sum('opens'),
    txPps: sum('txPps'),
    rxPps: sum('rxPps'),
    txBps: sum('txBps'),
    rxBps: sum('rxBps'),
  };
};
