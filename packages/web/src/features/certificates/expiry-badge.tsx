import { Badge, Tooltip } from '@mantine/core';
import type { Certificate } from '@rushhour/contract';
import { text } from '../../lib/text.ts';
import { absoluteTime, relativeTime } from '../../lib/times.ts';

const { certificates: words } = text;
const soonDays = 30;

/** When a certificate expires: red if it has, yellow if it expires within 30 days. */
export const ExpiryBadge = ({
  details,
}: {
  details: Pick<NonNullable<Certificate['details']>, 'notAfter' | 'expiresInDays'> | undefined;
}) => {
  if (!details?.notAfter) return '–';
  const days = details.expiresInDays ?? 0;
  const color = days < 0 ? 'red' : days < soonDays ? 'yellow' : 'teal';
  const time = relativeTime(details.notAfter);
  return (
    <Tooltip label={absoluteTime(details.notAfter)}>
      <Badge color={color} variant="dot" tt="none">
        {days < 0 ? words.expired(time) : words.expires(time)}
      </Badge>
    </Tooltip>
  );
};
