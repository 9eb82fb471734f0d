// Runs before the page is drawn, so that nobody sees the other theme first.
(() => {
  const root = document.documentElement;
  const read = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // Storage may be refused; the system's theme is then the only one.
    }
  };
  const theme = read('theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  root.classList.toggle('wrap', read('wrap') === 'yes');
})();
