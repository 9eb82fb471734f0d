// The layout of the paste service's pages.
import { layoutOf } from '../../pages/layout.ts';

export type { AssetUrl, PageParts } from '../../pages/layout.ts';

export const { layout, layoutParts } = layoutOf<
  'new' | 'statistics' | 'api',
  'editor.css' | 'editor.js' | 'viewer.css' | 'viewer.js'
>({
  name: 'Paste',
  brandLines: 'M9 10h14M9 16h9M9 22h12',
  navigation: [
    { id: 'new', href: '/', text: 'New' },
    { id: 'statistics', href: '/stats', text: 'Statistics' },
    { id: 'api', href: '/api/docs', text: 'API' },
  ],
  footer: 'Pastes are deleted when they expire. Do not paste what you may not share.',
  styles: ['paste.css'],
  scripts: ['own-pastes.js'],
});
