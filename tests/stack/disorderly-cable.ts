import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createCable, type Side } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';

/**
 * Forwards frames between interfaces of two namespaces, in both directions. Of those with TCP, or with IPsec: ESP and
 * IKE, some overtake up to five others, some arrive twice, some again after hundreds of others, and before some arrives
 * one that is cut or garbled. Arguments: namespace and interface of both ends, "tcp" or "ipsec", per mille of each kind.
 */
const forwarder = `
import ctypes, json, random, select, socket, struct, sys
ends = [(sys.argv[1], sys.argv[2]), (sys.argv[3], sys.argv[4])]
is_ipsec = sys.argv[5] == 'ipsec'
kinds = ['late', 'twice', 'replayed', 'cut', 'garbled']
shares = [int(text) / 1000 for text in sys.argv[6:11]]
libc = ctypes.CDLL(None)
def open_in(namespace, device):
  with open('/run/netns/' + namespace) as file:
    if libc.setns(file.fileno(), 0) != 0: raise OSError('setns')
  s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
  s.setsockopt(socket.SOL_SOCKET, 33, 32 << 20)
  s.bind((device, 3))
  s.setblocking(False)
  return s
sockets = [open_in(*end) for end in ends]
counts = {kind: 0 for kind in kinds + ['forwarded', 'cutEsp', 'garbledEsp', 'repeatedEsp']}
held = [None, None]
earlier = [[], []]
def send(to, frame):
  try: to.send(frame)
  except OSError: pass
def release(side):
  if held[side] is not None: send(sockets[1 - side], held[side][0])
  held[side] = None
def kind_of(frame):
  if len(frame) <= 42 or frame[12:14] != b'\\x08\\x00' or frame[14] != 0x45: return None
  if not is_ipsec: return 'tcp' if frame[23] == 6 else None
  if frame[23] == 50: return 'esp'
  ports = struct.unpack('!HH', frame[34:38])
  if frame[23] != 17 or not (500 in ports or 4500 in ports): return None
  return 'ike' if 500 in ports or frame[42:46] == bytes(4) else 'esp'
def is_first(frame): return 500 in struct.unpack('!HH', frame[34:38]) and frame[60] == 34
def payload_at(frame): return 34 if frame[23] == 50 else 42
def rewrite(frame, length):
  """Lengths and checksums of a frame whose payload was changed. Of UDP there is none, except where nothing else
  protects the first messages of IKE."""
  packet = bytearray(frame[:length])
  struct.pack_into('!H', packet, 16, length - 14)
  struct.pack_into('!H', packet, 24, 0)
  total = sum(struct.unpack('!10H', packet[14:34]))
  while total >> 16: total = (total & 0xffff) + (total >> 16)
  struct.pack_into('!H', packet, 24, 0xffff ^ total)
  if packet[23] == 17: struct.pack_into('!H', packet, 38, length - 34)
  if packet[23] == 17 and not is_first(frame): struct.pack_into('!H', packet, 40, 0)
  return bytes(packet)
def cut(frame, kind):
  """Some of it is missing at its end; of ESP there is more than its header left."""
  return rewrite(frame, random.randint(payload_at(frame) + (9 if kind == 'esp' else 0), len(frame) - 1))
def garbled(frame, kind):
  """One byte is another; of ESP one that is not in its header, so that it is found by its SPI."""
  at = random.randint(payload_at(frame) + (8 if kind == 'esp' else 0), len(frame) - 1)
  return rewrite(frame[:at] + bytes([frame[at] ^ random.randint(1, 255)]) + frame[at + 1:], len(frame))
def count(kind, of_frame):
  counts[kind] += 1
  if of_frame != 'esp': return
  if kind in ('cut', 'garbled'): counts[kind + 'Esp'] += 1
  if kind in ('twice', 'replayed'): counts['repeatedEsp'] += 1
def disturb(side, frame, of_frame, kind):
  to = sockets[1 - side]
  if kind == 'cut': send(to, cut(frame, of_frame))
  elif kind == 'garbled': send(to, garbled(frame, of_frame))
  send(to, frame)
  if kind == 'twice': send(to, frame)
  elif kind == 'replayed':
    if not earlier[side]: return
    send(to, earlier[side][0])
    of_frame = kind_of(earlier[side][0])
  count(kind, of_frame)
def draw_kind():
  draw = random.random()
  for kind, share in zip(kinds, shares):
    if draw < share: return kind
    draw -= share
def forward(side, frame):
  counts['forwarded'] += 1
  of_frame = kind_of(frame)
  kind = draw_kind() if of_frame else None
  if kind == 'late' and held[side] is None:
    counts['late'] += 1
    held[side] = [frame, random.randint(1, 5)]
    return
  if kind is None or kind == 'late': send(sockets[1 - side], frame)
  else: disturb(side, frame, of_frame, kind)
  if of_frame and shares[2]: earlier[side] = earlier[side][-500:] + [frame]
  if held[side] is not None:
    held[side][1] -= 1
    if held[side][1] == 0: release(side)
print('ready', flush=True)
watched = sockets + [sys.stdin]
while True:
  ready = select.select(watched, [], [], 0.003)[0]
  if sys.stdin in ready: break
  for side in (0, 1):
    if sockets[side] not in ready:
      release(side)
      continue
    for _ in range(64):
      try: frame, where = sockets[side].recvfrom(65536)
      except BlockingIOError: break
      if where[2] != 4: forward(side, frame)
print(json.dumps(counts), flush=True)
`;

/** What the forwarder did to the frames that it changes. */
export interface Disorder {
  readonly forwarded: number;
  readonly late: number;
  readonly twice: number;
  readonly replayed: number;
  readonly cut: number;
  readonly garbled: number;
  /** Packets of ESP that came again: twice or replayed. */
  readonly repeatedEsp: number;
  readonly cutEsp: number;
  readonly garbledEsp: number;
}

/** Per mille of each kind; absent: none. */
export interface DisorderShares {
  /** The frames that are changed; absent: those with TCP. */
  readonly of?: 'tcp' | 'ipsec';
  readonly latePerMille?: number;
  readonly twicePerMille?: number;
  readonly replayedPerMille?: number;
  readonly cutPerMille?: number;
  readonly garbledPerMille?: number;
}

export interface DisorderlyCable {
  readonly left: Side;
  readonly right: Side;
  /** Ends the forwarder: nothing passes any more. */
  cut(): Promise<Disorder>;
  /** Ends it, and removes the namespaces. */
  remove(): Promise<Disorder>;
}

/** Two namespaces whose frames pass through a program that changes their order and more. Always remove it. */
export const createDisorderlyCable = async (shares: DisorderShares): Promise<DisorderlyCable> => {
  requireProgram('ethtool');
  const [near, far] = [createCable(), createCable()];
  const { left } = near;
  const { right } = far;
  for (const side of [near.right, far.left]) side.run('ip', 'addr', 'flush', 'dev', side.device);
  // Frames as they are on a cable: of the size of the link, with their checksums.
  for (const side of [left, near.right, far.left, right])
    side.run('ethtool', '-K', side.device, 'tso', 'off', 'gso', 'off', 'gro', 'off', 'tx', 'off');
  const ends = [near.right, far.left].flatMap(({ namespace, device }) => [namespace, device]);
  const { latePerMille = 0, twicePerMille = 0, replayedPerMille = 0, cutPerMille = 0, garbledPerMille = 0 } = shares;
  const perMille = [latePerMille, twicePerMille, replayedPerMille, cutPerMille, garbledPerMille].map(String);
  const child = spawn('python3', ['-c', forwarder, ...ends, shares.of ?? 'tcp', ...perMille], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (bytes) => {
    text += bytes;
  });
  await once(child.stdout, 'data');
  const closed = once(child, 'close');
  const cut = async (): Promise<Disorder> => {
    child.stdin.end();
    await closed;
    return JSON.parse(text.slice(text.indexOf('{')));
  };
  return {
    left,
    right,
    cut,
    async remove() {
      const disorder = await cut();
      near.remove();
      far.remove();
      return disorder;
    },
  };
};
