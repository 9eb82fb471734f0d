// The layout of the link service's pages.
import { layoutOf } from '../../pages/layout.ts';

export const { layout } = layoutOf<'new' | 'statistics' | 'api', 'charts.css'>({
  name: 'Links',
  brandLines: 'M14 11h-2.5a5 5 0 0 0 0 10H14M18 11h2.5a5 5 0 0 1 0 10H18M12.5 16h7',
  navigation: [
    { id: 'new', href: '/', text: 'New' },
    { id: 'statistics', href: '/stats', text: 'Statistics' },
    { id: 'api', href: '/api/docs', text: 'API' },
  ],
  footer: 'Clicks are counted without cookies, and no address of a visitor is kept.',
  styles: ['links.css'],
  scripts: ['links.js'],
});
