import { bindSocket, configured, openSocket, option, setOption, socketType, trySetOption } from './kernel/socket.ts';
import { familyOf } from './kernel/socket-address.ts';
import type { ConnectionOptions, Route } from './transport.ts';
import { tuneSocket } from './tuning.ts';

/** A stream socket that comes from where the route says and is not connected yet. */
export const openClientSocket = ({ address, localAddress, localPort }: Route, options: ConnectionOptions): number =>
  configured(openSocket(familyOf(address), socketType.stream), (fd) => {
    if (options.noDelay) setOption(fd, option.noDelay, 1);
    if (options.tuning !== undefined) tuneSocket(fd, options.tuning);
    if (options.keepAliveSec > 0) {
      setOption(fd, option.keepAlive, 1);
      setOption(fd, option.keepIdleSec, options.keepAliveSec);
    }
    if (localAddress === undefined && localPort === undefined) return;
    const from = localAddress ?? (address.includes(':') ? '::' : '0.0.0.0');
    // With an address alone the port is found when the target is known, so that one port can serve many targets.
    if (localPort === undefined) trySetOption(fd, option.bindAddressNoPort, 1);
    else setOption(fd, option.reuseAddress, 1);
    bindSocket(fd, { address: from, port: localPort ?? 0 });
  });
