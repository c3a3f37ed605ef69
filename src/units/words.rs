//! Enums of plain words.

/// An enum of plain words, for code that serves any of them: whatever is listed here stands
/// in help, completions and messages without further ado.
pub trait Words: Copy + Send + Sync + 'static {
    /// Every value, in canonical order.
    const ALL: &'static [Self];

    /// The word used in ids, files and tables.
    fn word(self) -> &'static str;
}

/// Declares an enum whose values are plain words in ids, files and tables: the list of
/// values, the word of each and the way back from a word.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $value:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vdoc])* $value),+ }

        impl $name {
            /// Every value, in canonical order.
            pub const ALL: &'static [$name] = &[$($name::$value),+];

            /// The word used in ids, files and tables.
            pub const fn word(self) -> &'static str {
                match self { $($name::$value => $word),+ }
            }

            /// The value of a word, if there is one.
            pub fn from_word(word: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|v| v.word() == word)
            }
        }

        impl $crate::units::Words for $name {
            const ALL: &'static [$name] = $name::ALL;

            fn word(self) -> &'static str {
                $name::word(self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}
pub(crate) use words;
