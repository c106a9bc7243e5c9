import { type Static, Type } from 'typebox';

const closed = { additionalProperties: false } as const;
const seconds = (description: string, value: number) => Type.Number({ minimum: 0, default: value, description });

/** First and last address of a range. */
export const AddressRange = Type.Object({ start: Type.String(), end: Type.String() }, closed);
export type AddressRange = Static<typeof AddressRange>;

/** Algorithms, keys and timers of IPsec, the same for both ends. */
export const IpsecSettings = Type.Object(
  {
    mode: Type.Union([Type.Literal('tunnel'), Type.Literal('transport')], { default: 'tunnel' }),
    authMethod: Type.Union(
      [
        Type.Literal('psk'),
        Type.Literal('cert'),
        Type.Literal('eap-mschapv2'),
        Type.Literal('eap-tls'),
        Type.Literal('manual'),
      ],
      { default: 'psk', description: 'EAP: of initiators; responders have a certificate.' },
    ),
    psk: Type.Optional(
      Type.String({ description: 'Pre-shared key: text, or hexadecimal after 0x. Password of EAP: text.' }),
    ),
    eapIdentity: Type.Optional(
      Type.String({
        description: '`{index}` is the number of the tunnel. For eap-tls absent: a name of the certificate.',
      }),
    ),
    certificate: Type.Optional(Type.String({ description: 'PEM chain of this side.' })),
    privateKey: Type.Optional(Type.String({ description: 'PEM.' })),
    ca: Type.Optional(Type.String({ description: 'PEM of the authorities that certificates of peers come from.' })),
    ikeEncryption: Type.Optional(Type.String()),
    ikePrf: Type.Optional(Type.String()),
    ikeGroup: Type.Optional(Type.String()),
    cipher: Type.String({ default: 'aes256gcm16', description: 'ESP proposal.' }),
    encrypts: Type.Boolean({ default: true, description: 'False: ESP protects integrity only.' }),
    pfs: Type.Boolean({ default: false, description: 'Child SAs make their own key exchange.' }),
    natt: Type.Boolean({ default: false, description: 'ESP in UDP even without a NAT.' }),
    localId: Type.Optional(Type.String()),
    remoteId: Type.Optional(Type.String()),
    dpdIntervalSec: seconds('Between checks of the peer; 0: none.', 30),
    dpdTimeoutSec: seconds('Silence until a peer counts as dead.', 150),
    handshakeTimeoutSec: Type.Optional(
      Type.Number({ minimum: 0, description: 'Until a handshake of this side has failed; absent: about 48.' }),
    ),
    rekeySec: seconds('Until keys are renewed; 0: never.', 3600),
    lifetimeSec: seconds('Until an SA ends; 0: never.', 0),
    localRange: Type.Optional(AddressRange),
    remoteRange: Type.Optional(AddressRange),
    uniqueSelectors: Type.Boolean({
      default: false,
      description: 'Tunnel i has address i of the range of the initiator as its selector.',
    }),
    firstIndex: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Index of the first tunnel among those of all agents.',
    }),
    children: Type.Integer({ minimum: 1, maximum: 1000, default: 1, description: 'Child SAs of each tunnel.' }),
    openRate: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'Tunnels opened a second; absent: all at once.' }),
    ),
    spi: Type.Optional(
      Type.Integer({ minimum: 256, maximum: 4_294_967_295, description: 'Manual keying: SPI of the first tunnel.' }),
    ),
    integrityKey: Type.Optional(Type.String({ description: 'Manual keying, hexadecimal.' })),
    encryptionKey: Type.Optional(Type.String({ description: 'Manual keying, hexadecimal, with the salt at its end.' })),
  },
  closed,
);
export type IpsecSettings = Static<typeof IpsecSettings>;
