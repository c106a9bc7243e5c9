import { bindSocket, configured, openSocket, option, setOption, socketType } from '../../net/kernel/socket.ts';
import { family, familyOf } from '../../net/kernel/socket-address.ts';
import { nothingProgram } from '../../net/packet/packet-filter.ts';
import { attachProgram } from '../../net/packet/packet-socket.ts';

/** Takes a port without reading from it, so that the system does not answer frames with complaints. */
export const openQuietPort = ({ host, port }: { readonly host: string; readonly port: number }): number =>
  configured(openSocket(familyOf(host), socketType.datagram), (fd) => {
    attachProgram(fd, nothingProgram);
    if (familyOf(host) === family.inet6) setOption(fd, option.v6Only, 1);
    bindSocket(fd, { address: host, port });
  });
