import { bindSocket, configureOrClose, openSocket, option, setOption, socketType } from '../../net/kernel/socket.ts';
import { family, familyOf } from '../../net/kernel/socket-address.ts';
import { rejectAllProgram } from '../../net/packet/packet-filter.ts';
import { attachProgram } from '../../net/packet/packet-socket.ts';

/** Binds a port without reading, so that the kernel does not answer frames with ICMP port unreachable. */
export const openQuietPort = ({ host, port }: { readonly host: string; readonly port: number }): number =>
  configureOrClose(openSocket(familyOf(host), socketType.datagram), (fd) => {
    attachProgram(fd, rejectAllProgram);
    if (familyOf(host) === family.inet6) setOption(fd, option.v6Only, 1);
    bindSocket(fd, { address: host, port });
  });
