import type { RdmaNode } from '@rushhour/wire';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import type { Alarm } from '../../net/loop/alarm.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import type { Flushable } from '../../net/loop/pre-wait-tasks.ts';
import type { RdmaHosts } from './rdma-hosts.ts';

/** Rates are kept by sending this often what is due. */
const tickMs = 0.5;
const budget = 256;

const microseconds = (): number => performance.now() * 1000;

/** Drives a node: packets that arrive are answered once the event at hand is handled. */
export class NodeLoop implements Flushable {
  readonly #hosts: RdmaHosts;
  readonly #node: RdmaNode;
  readonly #alarm: Alarm;
  #isScheduled = false;
  #isClosed = false;

  constructor(hosts: RdmaHosts, node: RdmaNode) {
    this.#hosts = hosts;
    this.#node = node;
    this.#alarm = kernelEventLoop.createAlarm(() => this.#tick());
    hosts.carrier.receiver = {
      receive: (arrival, memory, start, end) => {
        node.receive(arrival, memory, start, end, microseconds());
        this.schedule();
      },
    };
  }

  start(): void {
    this.#tick();
  }

  /** Sends what is due, once the event at hand is handled. */
  schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    epollPoller().scheduleFlush(this);
  }

  flush(): void {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    this.#node.transmit(microseconds(), budget);
    this.#hosts.network.layers.scheduleFlush();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#alarm.cancel();
    this.#node.close();
    this.#hosts.network.layers.scheduleFlush();
    this.#isClosed = true;
  }

  #tick(): void {
    if (this.#isClosed) return;
    this.schedule();
    this.#alarm.set(performance.now() + tickMs);
  }
}
