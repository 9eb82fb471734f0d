#!/usr/bin/env node
// Checks the Node version in syntax that old versions can read, then hands over.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `svc: this is Node ${process.versions.node}: svc needs 22.18 or newer (24 LTS is recommended)\n` +
      'Try: install a newer Node, or run it through npm, which brings one: npm start, npx svc --help\n',
  );
  process.exitCode = 1;
} else {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache?.();
  try {
    const { main } = await import('../dist/src/cli/main.js');
    await main(process.argv);
  } catch (error) {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !/module '[^']*main\.js'/.test(error.message)) throw error;
    process.stderr.write('svc: it has not been built: dist/ is missing\nTry: npm run build\n');
    process.exitCode = 1;
  }
}
