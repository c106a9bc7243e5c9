import { closeSocket } from '../kernel/socket.ts';
import type { Device } from './device.ts';
import { FrameBatch } from './frame-batch.ts';
import { openSender } from './packet-socket.ts';
import type { Outlet, OutletSizes } from './tx-path.ts';

/** Frames by a packet socket, many in one call: works wherever frames can be sent at all. */
export const openPacketOutlet = (device: Device, { isCaptured, ...sizes }: OutletSizes): Outlet => {
  const fd = openSender(device, isCaptured);
  const places = new FrameBatch(sizes);
  return {
    places,
    lost: 0,
    send: (first, end) => places.send(fd, first, end),
    close() {
      closeSocket(fd);
      places.release();
    },
  };
};
