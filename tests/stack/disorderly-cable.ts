import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createCable, type Side } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';

/**
 * Forwards frames between interfaces of two namespaces, in both directions. Of those with TCP some overtake up to five
 * others, and some arrive twice. Arguments: namespace and interface of both ends, per mille of either kind.
 */
const forwarder = `
import ctypes, json, random, select, socket, sys
ends = [(sys.argv[1], sys.argv[2]), (sys.argv[3], sys.argv[4])]
late_share, twice_share = int(sys.argv[5]) / 1000, int(sys.argv[6]) / 1000
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
counts = {'late': 0, 'twice': 0, 'forwarded': 0}
held = [None, None]
def send(to, frame):
  try: to.send(frame)
  except OSError: pass
def release(side):
  if held[side] is not None: send(sockets[1 - side], held[side][0])
  held[side] = None
def forward(side, frame):
  to = sockets[1 - side]
  counts['forwarded'] += 1
  isTcp = len(frame) > 34 and frame[12:14] == b'\\x08\\x00' and frame[23] == 6
  draw = random.random() if isTcp else 1
  if held[side] is None and draw < late_share:
    counts['late'] += 1
    held[side] = [frame, random.randint(1, 5)]
    return
  send(to, frame)
  if late_share <= draw < late_share + twice_share:
    counts['twice'] += 1
    send(to, frame)
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

export interface DisorderlyCable {
  readonly left: Side;
  readonly right: Side;
  /** Ends it; what the forwarder did to frames with TCP. */
  remove(): Promise<{ readonly late: number; readonly twice: number; readonly forwarded: number }>;
}

/** Two namespaces whose frames pass through a program that changes their order and repeats some. Always remove it. */
export const createDisorderlyCable = async (share: {
  readonly latePerMille: number;
  readonly twicePerMille: number;
}): Promise<DisorderlyCable> => {
  requireProgram('ethtool');
  const [near, far] = [createCable(), createCable()];
  const { left } = near;
  const { right } = far;
  for (const side of [near.right, far.left]) side.run('ip', 'addr', 'flush', 'dev', side.device);
  // Frames as they are on a cable: of the size of the link, with their checksums.
  for (const side of [left, near.right, far.left, right])
    side.run('ethtool', '-K', side.device, 'tso', 'off', 'gso', 'off', 'gro', 'off', 'tx', 'off');
  const ends = [near.right, far.left].flatMap(({ namespace, device }) => [namespace, device]);
  const { latePerMille, twicePerMille } = share;
  const child = spawn('python3', ['-c', forwarder, ...ends, String(latePerMille), String(twicePerMille)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (bytes) => {
    text += bytes;
  });
  await once(child.stdout, 'data');
  return {
    left,
    right,
    async remove() {
      child.stdin.end();
      await once(child, 'close');
      near.remove();
      far.remove();
      return JSON.parse(text.slice(text.indexOf('{')));
    },
  };
};
