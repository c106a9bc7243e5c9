/** Runs one order in a process of its own, so that it can live in another network namespace. Ends when its input ends. */
import { type OrderWish, startOrder } from './job.ts';

const order = startOrder(JSON.parse(process.argv[2] ?? '{}') as OrderWish);
order.started.then(
  () => console.log('started'),
  () => {},
);
process.stdin.on('end', () => void order.stop()).resume();
const { outcome, summaries } = await order.totals;
console.log(JSON.stringify({ outcome, summaries }));
process.exit();
