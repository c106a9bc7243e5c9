import { Text, UnstyledButton } from '@mantine/core';
import type { Schedule } from '@rushhour/contract';
import { text } from '../../lib/text.ts';
import { calendarOf, type Day, type Occurrence } from './calendar.ts';
import classes from './month-calendar.module.css';

const { schedules: words } = text;
const maxShown = 4;
const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const dayName = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

interface MonthCalendarProps {
  month: Date;
  schedules: readonly Schedule[];
  onChoose: (schedule: Schedule) => void;
}

/** The scheduled starts of a month; those with conflicts are red. */
export const MonthCalendar = ({ month, schedules, onChoose }: MonthCalendarProps) => (
  <section className={classes['grid']} aria-label={text.nav.schedules}>
    {words.weekdays.map((name) => (
      <Text key={name} className={classes['head'] ?? ''} size="xs" fw={600} ta="center">
        {name}
      </Text>
    ))}
    {calendarOf(month, schedules).map((day) => (
      <DayCell key={day.date.toISOString()} day={day} onChoose={onChoose} />
    ))}
  </section>
);

const DayCell = ({
  day: { date, isInMonth, occurrences },
  onChoose,
}: { day: Day } & Pick<MonthCalendarProps, 'onChoose'>) => {
  const isToday = date.toDateString() === new Date().toDateString();
  const hidden = occurrences.length - maxShown;
  return (
    <div className={`${classes['day']} ${isInMonth ? '' : classes['outside']}`}>
      <Text size="xs" className={isToday ? (classes['today'] ?? '') : ''} c={isInMonth ? 'inherit' : 'dimmed'}>
        <time dateTime={date.toISOString()}>{date.getDate()}</time>
      </Text>
      {occurrences.slice(0, maxShown).map((one) => (
        <Start key={`${one.schedule.taskID} ${one.at.getTime()}`} one={one} onChoose={onChoose} />
      ))}
      {hidden > 0 && (
        <Text size="xs" c="dimmed">
          {words.andMore(hidden)}
        </Text>
      )}
    </div>
  );
};

const Start = ({
  one: { schedule, at, conflicts },
  onChoose,
}: { one: Occurrence } & Pick<MonthCalendarProps, 'onChoose'>) => {
  const name = schedule.comment || `#${schedule.taskID}`;
  const clash = conflicts.length > 0 ? classes['clash'] : schedule.enabled ? '' : classes['paused'];
  const remark = conflicts.length > 0 ? `, ${words.conflict}` : '';
  return (
    <UnstyledButton
      className={`${classes['start']} ${clash}`}
      aria-label={`${dayName.format(at)}, ${hour.format(at)}, ${name}${remark}`}
      title={`${hour.format(at)} ${name}${remark}`}
      onClick={() => onChoose(schedule)}
    >
      {hour.format(at)} {name}
    </UnstyledButton>
  );
};
