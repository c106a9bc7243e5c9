import { Anchor, createTheme, Modal } from '@mantine/core';
import { text } from '../lib/text.ts';

/** Indigo for actions, orange for traffic, gray for the rest. */
export const theme = createTheme({
  primaryColor: 'indigo',
  // Dark enough for white text on buttons (WCAG AA).
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  // Shipped with the interface, so that it looks the same everywhere.
  fontFamily: '"Figtree Variable", system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, Menlo, Consolas, monospace',
  cursorType: 'pointer',
  autoContrast: true,
  components: {
    // A link has the size of the text around it.
    Anchor: Anchor.extend({ defaultProps: { inherit: true } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': text.app.close } } }),
    // Scrollable tables can be focused, so that the keyboard can scroll them.
    TableScrollContainer: { defaultProps: { type: 'native', tabIndex: 0 } },
  },
});
