export { Histogram, histogramBytes } from './histogram.ts';
export { Duration, Order } from './order.ts';
export { Phase, Series, Summary } from './summary.ts';
