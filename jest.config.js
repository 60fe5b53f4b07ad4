const jupyterLab = require('@jupyterlab/testing/lib/jest-config')(__dirname);

// Packages that ship ES modules only and must pass through babel.
const esModules = [
  '@codemirror',
  '@jupyter',
  '@jupyterlab',
  '@lezer',
  '@marijn',
  '@microsoft',
  'exenv-es6',
  'lib0',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'yjs'
].join('|');

module.exports = {
  ...jupyterLab,
  reporters: ['default'],
  roots: ['<rootDir>/src'],
  testRegex: '/__tests__/.*\\.spec\\.tsx?$',
  transform: {
    ...jupyterLab.transform,
    // Types are checked by tsc; here they are only stripped.
    '^.+\\.tsx?$': [
      'ts-jest/legacy',
      { tsconfig: './tsconfig.test.json', diagnostics: false }
    ]
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules})/)`]
};
