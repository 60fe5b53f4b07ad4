import { URL, fileURLToPath } from 'node:url';
import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import reactHooks from 'eslint-plugin-react-hooks';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig([
  globalIgnores([
    'lib',
    'coverage',
    'docs/_build',
    '.packages',
    '.venv',
    'jupyter_codeinterp',
    'ui-tests/playwright-report',
    'ui-tests/servers',
    'ui-tests/test-results',
    'src/protocol/protocol.ts'
  ]),
  js.configs.recommended,
  {
    files: ['**/*.js'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: {
        console: 'readonly',
        module: 'writable',
        require: 'readonly',
        __dirname: 'readonly'
      }
    }
  },
  {
    files: ['style/index.js'],
    languageOptions: { sourceType: 'module' }
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommended, jupyter.configs.recommended],
    plugins: { jupyter },
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.test.json', 'ui-tests/tsconfig.json'],
        tsconfigRootDir: fileURLToPath(new URL('..', import.meta.url))
      }
    },
    rules: {
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          prefix: ['I'],
          // Declared by the DOM, extended by tests.
          filter: { regex: '^Window$', match: false }
        }
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      // Where the browser blocks storage, these throw. `storage.ts` does not.
      'no-restricted-globals': ['error', 'localStorage', 'sessionStorage'],
      'no-restricted-properties': [
        'error',
        { object: 'window', property: 'localStorage' },
        { object: 'window', property: 'sessionStorage' }
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { attributes: false } }
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { args: 'none', ignoreRestSiblings: true, varsIgnorePattern: '^_+$' }
      ],
      '@typescript-eslint/no-namespace': 'off',
      // The whole of the front end is one small bundle, and its start wants all of it.
      'jupyter/prefer-lazy-imports': 'off',
      curly: ['error', 'all'],
      eqeqeq: 'error',
      // A named function gives a memoised component its name.
      'prefer-arrow-callback': ['error', { allowNamedFunctions: true }]
    }
  },
  {
    files: ['src/**/*.tsx'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error'
    }
  },
  {
    files: ['**/__tests__/**', 'ui-tests/**'],
    rules: {
      'jupyter/no-untranslated-string': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off'
    }
  },
  prettier
]);
