import { createCable } from '../tests/engines/namespaces.ts';
import { convergenceRows } from './control-convergence.ts';
import { stopAll } from './control-peers.ts';
import { bfdRows, bgpRows, floodRows } from './control-sessions.ts';
import { tableRows } from './control-table.ts';
import { withNeighbours } from './neighbour-limit.ts';
import { takePriority } from './priority.ts';
import { type Row, report } from './report.ts';

// Emulated routers against FRR, BIRD and GoBGP in network namespaces.
// npm run bench:control -- [table|bgp|bfd|convergence|flood] [share of the full size, such as 0.1]

const [part = 'all', share = '1'] = process.argv.slice(2);
const scaled = (full: number): number => Math.max(1, Math.round(full * Number(share)));

const parts: Record<string, (ends: ReturnType<typeof createCable>) => Promise<Row[]>> = {
  table: (ends) => tableRows(ends, scaled(1_000_000)),
  bgp: (ends) => withNeighbours(scaled(4000), () => bgpRows(ends, scaled(4000), scaled(1_000_000))),
  bfd: (ends) => bfdRows(ends, scaled(2000)),
  convergence: (ends) => convergenceRows(ends, scaled(1000)),
  flood: (ends) => floodRows(ends, scaled(1000)),
};

takePriority();
const chosen = part === 'all' ? Object.keys(parts) : [part];
const rows: Row[] = [];
for (const name of chosen) {
  const measure = parts[name];
  if (measure === undefined) throw new RangeError(`there is no part ${name}: ${Object.keys(parts).join(', ')}`);
  const cable = createCable();
  try {
    rows.push(...(await measure(cable)));
  } finally {
    await stopAll();
    cable.remove();
  }
}
process.exit(report(rows) ? 0 : 1);
