//! The report as one page that needs nothing else: no network, no script.

use minijinja::{Environment, UndefinedBehavior, context};

use super::document::Document;

/// The page.
///
/// # Errors
/// Where the page's template does not fit what is put into it, which a test rules out.
pub(super) fn html(document: &Document) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Names that end so are escaped.
    environment.add_template("page.html", include_str!("../../templates/report/page.html.j2"))?;
    let style = include_str!("../../templates/report/page.css");
    environment.get_template("page.html")?.render(context! {
        document => minijinja::value::Serde(document),
        style,
    })
}
